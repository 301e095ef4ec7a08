// The builds: the app, (--mode examples) the single file that a teacher mails, and (--mode heatmap, exercise) the two
// modules that notebooks load.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { BuildOptions } from "vite";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";
import { seal } from "./src/examples/seal.ts";

const bundle = "../src/pozor/viewer/static";
const checks = { pluginTimings: false };

const shared: BuildOptions = {
  outDir: bundle,
  target: "es2022",
  modulePreload: { polyfill: false },
  reportCompressedSize: false,
  chunkSizeWarningLimit: 800,
};

/** One self-contained module: its styles are inside, and it asks for nothing. */
function widget(name: string): BuildOptions {
  return {
    ...shared,
    emptyOutDir: false,
    lib: { entry: `src/widget/${name}.ts`, formats: ["es"], fileName: () => `widgets/${name}.js` },
    rolldownOptions: { checks },
  };
}

function page(single: boolean): BuildOptions {
  return {
    ...shared,
    emptyOutDir: !single, // the app first, the others beside it
    assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0, // the page's CSP has no data: fonts
    rolldownOptions: { input: single ? "examples.html" : "index.html", checks },
  };
}

export default defineConfig(({ mode }) => {
  const single = mode === "examples";
  const inside = mode === "heatmap" || mode === "exercise";
  const components = svelte(inside ? { compilerOptions: { css: "injected" } } : {});
  return {
    base: "./", // relative, so that the page works behind a proxy that adds a path
    plugins: single ? [components, viteSingleFile({ removeViteModuleLoader: true }), seal()] : [components],
    build: inside ? widget(mode) : page(single),
    define: inside ? { "process.env.NODE_ENV": JSON.stringify("production") } : {},
    test: { include: ["tests/**/*.test.ts", "src/**/*.test.ts"] },
  };
});
