// The documents of one head: rows, columns, cells.
import type { CellDocument, ColumnDocument, RowDocument } from "../../read/documents";
import type { FileDocument } from "../held";
import { below, finite, hiddenOf, valueOf, whole, word, type Given } from "./asked.ts";
import type { Shown } from "./store.ts";
import { working } from "./working.ts";

export function rowDocument(shown: Shown, given: Given): RowDocument {
  const query = below(given, "query", shown.head.queries, "queries of this map");
  const { probs, lse, sink } = shown.head.row(query, hiddenOf(given, shown.head.keys));
  const visible = shown.head.visible(query);
  let entropy = 0;
  for (const p of probs) if (p !== 0) entropy -= p * Math.log(p);
  return {
    query,
    probs: Array.from(probs, finite),
    visible: Array.from(visible, Boolean),
    entropy: finite(entropy + 0),
    lse: finite(lse),
    sink: finite(sink),
    weighted: weighted(given, shown, probs, visible),
  };
}

/** lse of every row must be known. */
export function columnDocument(shown: Shown, given: Given): ColumnDocument {
  const key = below(given, "key", shown.head.keys, "keys of this map");
  const { probs, visible, received } = column(shown, key);
  return { key, probs: probs.map(finite), visible, received: finite(received), weighted: weighted(given, shown, probs, visible, key) };
}

export function cellDocument(file: FileDocument, shown: Shown, given: Given): CellDocument {
  const query = below(given, "query", shown.head.queries, "queries of this map");
  const key = below(given, "key", shown.head.keys, "keys of this map");
  const lang = word(given, "lang", ["cs", "en"], "en");
  const digits = Math.min(12, Math.max(1, whole(given, "digits", 3)));
  const row = shown.head.row(query);
  const visible = row.visible[key] === 1;
  const prob = visible ? row.probs[key]! : 0;
  const tile = Math.fround(shown.head.cell(query, key));
  const { probs, vNorm } = shown.head.arrays;
  return {
    query,
    key,
    visible,
    prob: finite(prob),
    tile: finite(tile),
    difference: finite(Math.abs(tile - prob)),
    logit: visible && probs === null ? finite(shown.head.logit(query, key)) : null,
    lse: finite(row.lse),
    norm: vNorm === null ? null : finite(vNorm[key]!),
    html: working(file, shown, { query, key, row, lang, digits }),
  };
}

/** What each query gives to a key, and what it receives on average from those that may see it. */
export function column(shown: Shown, key: number): { probs: number[]; visible: boolean[]; received: number } {
  const { head } = shown;
  const visible = Array.from({ length: head.queries }, (_, query) => head.sight.sees(query, key));
  const probs = visible.map((seen, query) => (seen ? head.cell(query, key) : 0));
  return { probs, visible, received: meanOf(probs, visible) };
}

/** The mean over what is visible; NaN where nothing is. */
export function meanOf(probs: readonly number[], visible: readonly boolean[]): number {
  const seeing = visible.filter(Boolean).length;
  return seeing === 0 ? NaN : probs.reduce((sum, p) => sum + p, 0) / seeing;
}

/** What the keys bring, weight times length; a hidden one brings nothing. `key`: of a column, else each has its own. */
function weighted(given: Given, shown: Shown, probs: ArrayLike<number>, visible: ArrayLike<number | boolean>, key?: number): (number | null)[] | null {
  const lengths = shown.head.arrays.vNorm;
  if (valueOf(given, shown.held.map.values) === "prob" || lengths === null) return null;
  return Array.from(probs, (prob, at) => (visible[at] ? finite(prob * lengths[key ?? at]!) : 0));
}
