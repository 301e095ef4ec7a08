// What a row of attention says in words. One rule for recordings and worked examples; pozor.by_hand words it alike.

export interface Ranked {
  index: number;
  prob: number;
}

export type Readout =
  | { kind: "nothing" } // the row may see nothing
  | { kind: "unknown" } // a number is not finite
  | { kind: "only"; at: Ranked } // one visible key
  | { kind: "equally"; count: number; prob: number }
  /** The keys looked at, largest first. `mainly`: the strongest, with those that equal it, hold a third of the row. */
  | { kind: "looks"; at: Ranked[]; mainly: boolean }
  | { kind: "spread"; at: Ranked }; // no key is looked at; the strongest

export const LOOKED_AT = 0.05; // a key with a larger share is looked at
const MAIN = 1 / 3;
const SAME = 1e-9; // relative: shares that differ by less are equal

/** Visible entries, largest first; the lower index first among equals. Numbers that are not finite come first. */
export function ranked(probs: readonly (number | null)[], visible: readonly boolean[]): Ranked[] {
  const list = probs.flatMap((prob, index) => (visible[index] ? [{ index, prob: prob ?? NaN }] : []));
  const height = (entry: Ranked): number => (Number.isNaN(entry.prob) ? Infinity : entry.prob);
  const order = (a: Ranked, b: Ranked): number => (same(a, b) ? a.index - b.index : height(b) - height(a));
  return list.sort(order);
}

/** `list` as `ranked` gives it. */
export function readout(list: readonly Ranked[]): Readout {
  const [first] = list;
  const last = list.at(-1);
  if (first === undefined || last === undefined || first.prob === 0) return { kind: "nothing" };
  if (list.some(({ prob }) => !Number.isFinite(prob))) return { kind: "unknown" };
  if (list.length === 1) return { kind: "only", at: first };
  if (same(first, last)) return { kind: "equally", count: list.length, prob: first.prob };
  const looks = list.filter(({ prob }) => prob > LOOKED_AT);
  if (looks.length === 0) return { kind: "spread", at: first };
  const strongest = looks.filter((one) => same(one, first)).reduce((sum, { prob }) => sum + prob, 0);
  return { kind: "looks", at: looks, mainly: strongest >= MAIN };
}

function same(a: Ranked, b: Ranked): boolean {
  if (a.prob === b.prob || (Number.isNaN(a.prob) && Number.isNaN(b.prob))) return true;
  return Math.abs(a.prob - b.prob) <= SAME * Math.max(Math.abs(a.prob), Math.abs(b.prob));
}
