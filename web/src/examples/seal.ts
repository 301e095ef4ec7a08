// The last step of building the single file: its numbers without scripts, and a policy under which it can ask for nothing.
import type { Plugin } from "vite";
import { staticTables } from "./static.ts";

const NOTHING = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:";

/** A Vite plugin; stands after the one that inlines scripts and styles. */
export function seal(): Plugin {
  return {
    name: "pozor-seal",
    enforce: "post",
    generateBundle: {
      order: "post",
      async handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type === "asset" && file.fileName.endsWith(".html")) file.source = await sealed(String(file.source));
        }
      },
    },
  };
}

export async function sealed(html: string): Promise<string> {
  const scripts = await digests(html, /<script\b[^>]*>([\s\S]*?)<\/script>/g);
  const styles = await digests(html, /<style\b[^>]*>([\s\S]*?)<\/style>/g);
  const policy = `${NOTHING}; script-src ${scripts}; style-src ${styles}`;
  return html
    .replace("<html ", '<html data-lang="auto" ')
    .replace("<head>", () => `<head>\n    <meta http-equiv="Content-Security-Policy" content="${policy}" />`)
    .replace('<div id="app"></div>', () => `<div id="app"></div>\n<noscript>\n${staticTables()}\n</noscript>`);
}

export async function digests(html: string, pattern: RegExp): Promise<string> {
  const found: string[] = [];
  for (const [, content = ""] of html.matchAll(pattern)) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(content));
    found.push(`'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`);
  }
  return found.length === 0 ? "'none'" : found.join(" ");
}
