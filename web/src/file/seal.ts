// The last step of building the page of `to_html`: a policy under which it can ask for nothing, only compute.
import type { Plugin } from "vite";
import { digests } from "../examples/seal.ts";

// the engine is WASM (where this is not known, JavaScript computes) in a worker made of text
const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; worker-src blob:; child-src blob:";

/** A Vite plugin; stands after the one that inlines scripts and styles. */
export function sealFile(): Plugin {
  return {
    name: "pozor-seal-file",
    enforce: "post",
    generateBundle: {
      order: "post",
      async handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "asset" && file.fileName.endsWith(".html")) file.source = await sealedFile(String(file.source));
        }
      },
    },
  };
}

export async function sealedFile(html: string): Promise<string> {
  const scripts = await digests(html, /<script\b[^>]*>([\s\S]*?)<\/script>/g);
  const styles = await digests(html, /<style\b[^>]*>([\s\S]*?)<\/style>/g);
  const policy = `${NOTHING}; script-src ${scripts} 'wasm-unsafe-eval'; style-src ${styles}`;
  return html.replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`);
}
