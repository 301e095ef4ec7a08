// What a row of attention says in words: mainly at a few, at all equally, or spread.

export interface Ranked {
  index: number;
  prob: number;
}

export type Readout =
  | { kind: "nothing" } // the row may see nothing
  | { kind: "unknown" } // a number is not finite
  | { kind: "only"; at: Ranked } // one visible key
  | { kind: "equally"; count: number; prob: number }
  | { kind: "mainly"; at: Ranked[]; rest: number }
  | { kind: "spread"; at: Ranked };

const EQUAL = 1.02; // the largest over the smallest visible probability
const FEW = 4; // more than this many are not "mainly"

/** Visible entries, largest first; the lower index first among equals. Numbers that are not finite come first. */
export function ranked(probs: readonly (number | null)[], visible: readonly boolean[]): Ranked[] {
  const list = probs.flatMap((prob, index) => (visible[index] ? [{ index, prob: prob ?? NaN }] : []));
  const height = (entry: Ranked): number => (Number.isNaN(entry.prob) ? Infinity : entry.prob);
  return list.sort((a, b) => (height(a) === height(b) ? a.index - b.index : height(b) - height(a)));
}

/** `list` as `ranked` gives it. "Mainly" are those at least half as strong as the strongest, if together they hold half. */
export function readout(list: readonly Ranked[]): Readout {
  const [first] = list;
  const last = list.at(-1);
  if (first === undefined || last === undefined) return { kind: "nothing" };
  if (list.some(({ prob }) => !Number.isFinite(prob))) return { kind: "unknown" };
  if (list.length === 1) return { kind: "only", at: first };
  if (first.prob <= last.prob * EQUAL) return { kind: "equally", count: list.length, prob: first.prob };
  const main = list.filter(({ prob }) => prob >= first.prob / 2);
  const total = main.reduce((sum, { prob }) => sum + prob, 0);
  if (main.length <= FEW && total >= 0.5) return { kind: "mainly", at: main, rest: Math.max(0, 1 - total) };
  return { kind: "spread", at: first };
}
