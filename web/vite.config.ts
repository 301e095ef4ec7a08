// The builds: the app, (--mode examples) the single file that a teacher mails, (--mode single) the page of `to_html`, and
// (--mode heatmap, exercise) the two modules that notebooks load.
import { svelte } from "@sveltejs/vite-plugin-svelte";
import type { BuildOptions } from "vite";
import { defineConfig } from "vitest/config";
import { viteSingleFile } from "vite-plugin-singlefile";
import { panel } from "./assembly/plugin.ts";
import { seal } from "./src/examples/seal.ts";
import { sealFile } from "./src/file/seal.ts";

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
    rolldownOptions: { checks, output: { minify: true, comments: false } }, // else a library keeps its spaces
  };
}

function page(name: string): BuildOptions {
  const single = name !== "index";
  return {
    ...shared,
    emptyOutDir: !single, // the app first, the others beside it
    assetsInlineLimit: single ? Number.MAX_SAFE_INTEGER : 0, // the page's CSP has no data: fonts
    rolldownOptions: { input: `${name}.html`, checks },
  };
}

export default defineConfig(({ mode }) => {
  const single = mode === "examples" || mode === "single";
  const inside = ["heatmap", "exercise", "map"].includes(mode);
  const components = svelte(inside ? { compilerOptions: { css: "injected" } } : {});
  return {
    base: "./", // relative, so that the page works behind a proxy that adds a path
    plugins: [components, panel(), ...(single ? [viteSingleFile({ removeViteModuleLoader: true }), mode === "single" ? sealFile() : seal()] : [])],
    worker: { format: "iife", plugins: () => [panel()], rolldownOptions: { checks } }, // classic: a module worker does not start from a file
    build: inside ? widget(mode) : page(single ? mode : "index"),
    define: inside ? { "process.env.NODE_ENV": JSON.stringify("production") } : {},
    test: { include: ["tests/**/*.test.ts", "src/**/*.test.ts"] },
  };
});
