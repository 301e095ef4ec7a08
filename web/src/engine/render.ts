// The same working for other readers: LaTeX of one number or of a whole row.
import type { Address } from "./address.ts";
import type { Working } from "./compute.ts";
import { explain, rowAddresses } from "./explain.ts";
import { latex, text, type Style } from "./expression.ts";

export function latexOf(working: Working, a: Address, style: Style): string {
  const { chunks } = explain(working, a, style);
  return `\\[\n  ${chunks.map((c) => latex(c, style)).join("\n  ")}\n\\]`;
}

export function latexOfRow(working: Working, query: number, head: number, style: Style): string {
  const lines = rowAddresses(working, query, head).map((a) => {
    const [left, ...rest] = explain(working, a, style).chunks.map((c) => latex(c, style));
    return `  ${left} &${rest.join(" ")}`;
  });
  return `\\begin{align*}\n${lines.join(" \\\\\n")}\n\\end{align*}`;
}

/** For a screen reader and for tests: the formula in one line. */
export function textOf(working: Working, a: Address, style: Style): string {
  return explain(working, a, style)
    .chunks.map((c) => text(c, style))
    .join(" ");
}
