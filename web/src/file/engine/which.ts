// Which heads look here: each by what it gives to a cell, by the largest of a row, by what a column receives.
import type { WhichDocument, WhichLine } from "../../read/documents";
import { column } from "./answers.ts";
import { below, finite, Refusal, variantOf, type Given } from "./asked.ts";
import type { Bases, Wanted } from "./bases.ts";
import type { Shown, Store } from "./store.ts";

export async function which(store: Store, bases: Bases, given: Given, wanted: Wanted): Promise<WhichDocument> {
  const variant = variantOf(given);
  const asked = (name: string): boolean => (given[name] ?? "") !== "";
  if (!asked("query") && !asked("key")) throw new Refusal("which needs query=, key= or both.");
  let [query, key]: [number | null, number | null] = [null, null];
  const heads: WhichLine[] = [];
  for (const held of store.document.heads) {
    if (!held.map.variants.includes(variant)) continue;
    query = asked("query") ? below(given, "query", held.map.q_len, "queries of this map") : null;
    key = asked("key") ? below(given, "key", held.map.kv_len, "keys of this map") : null;
    const shown = await store.show(held, variant);
    if (query === null) await bases.jobs.run(shown.head.allLse(), wanted);
    heads.push({ layer: held.layer, kind: held.kind, head: held.head, ...giveOf(shown, query, key) });
    await bases.jobs.run(pause(), wanted); // somebody may have asked meanwhile
  }
  heads.sort((a, b) => (b.prob ?? -1) - (a.prob ?? -1));
  return { query, key, heads };
}

function* pause(): Generator<number, void, void> {
  yield 1;
}

function giveOf(shown: Shown, query: number | null, key: number | null): { prob: number | null; at: number | null } {
  const { head } = shown;
  if (query !== null && key !== null) return { prob: finite(head.cell(query, key)), at: null };
  const { probs, value } = query !== null ? { probs: head.row(query).probs, value: null } : columnOf(shown, key ?? 0);
  const at = largest(probs);
  return { prob: finite(value ?? probs[at] ?? 0), at: (probs[at] ?? 0) > 0 ? at : null };
}

function columnOf(shown: Shown, key: number): { probs: number[]; value: number } {
  const { probs, received } = column(shown, key);
  return { probs, value: received };
}

function largest(numbers: ArrayLike<number>): number {
  let at = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! > numbers[at]!) at = i;
  return at;
}
