// Two builds: the app, and (--mode examples) the single file that a teacher mails.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";
import { seal } from "./src/examples/seal.ts";

const bundle = "../src/pozor/viewer/static";

export default defineConfig(({ mode }) => {
  const single = mode === "examples";
  return {
    base: "./", // relative, so that the page works behind a proxy that adds a path
    plugins: single ? [svelte(), viteSingleFile({ removeViteModuleLoader: true }), seal()] : [svelte()],
    build: {
      outDir: bundle,
      emptyOutDir: !single, // the app first, the single file beside it
      target: "es2022",
      assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0, // the page's CSP has no data: fonts
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 800,
      rolldownOptions: { input: single ? "examples.html" : "index.html", checks: { pluginTimings: false } },
    },
    test: { include: ["tests/**/*.test.ts", "src/**/*.test.ts"] },
  };
});
