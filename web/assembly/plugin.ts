// A Vite plugin: `virtual:pozor-panel` is the compiled panel.ts, in base64. Compiled when a build asks for it.
import { main } from "assemblyscript/asc";
import type { Plugin } from "vite";

const NAME = "virtual:pozor-panel";
const SOURCE = decodeURIComponent(new URL("./panel.ts", import.meta.url).pathname).replace(/^\/([A-Za-z]:)/, "$1"); // /C:/… of Windows

let compiled: Promise<string> | null = null;

export function panel(): Plugin {
  return {
    name: "pozor-panel",
    resolveId: { filter: { id: /^virtual:pozor-panel$/ }, handler: () => `\0${NAME}` },
    load: {
      filter: { id: /virtual:pozor-panel$/ },
      async handler() {
        this.addWatchFile(SOURCE);
        compiled ??= compile();
        return `export default "${await compiled}";`;
      },
    },
  };
}

async function compile(): Promise<string> {
  let wasm: Uint8Array | null = null;
  const { error, stderr } = await main([SOURCE, "-O3", "--noAssert", "--enable", "simd", "--runtime", "stub", "--outFile", "panel.wasm"], {
    writeFile: (_: string, contents: Uint8Array | string) => {
      if (typeof contents !== "string") wasm = contents;
    },
  });
  if (error !== null || wasm === null) throw new Error(`panel.ts does not compile: ${stderr.toString()}`);
  return btoa(String.fromCharCode(...(wasm as Uint8Array)));
}
