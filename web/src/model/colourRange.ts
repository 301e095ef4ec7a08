// Which values get which colours: from what the address asks for and, only where it asks for that, what was found in tiles.
import type { Value } from "../read/documents";
import { range, type Range, type Transfer } from "../scales/transfer";
import { rounded } from "../scales/track";
import { leastPositive, ordered, percentile, type Part } from "./spread";

export const CLIPS = [99.9, 99, 95] as const; // percent of the pixels that the range holds

/** What the address says about the range. */
export interface Wish {
  value: Value;
  transfer: Transfer;
  root: number;
  range: "unit" | "max";
  clip: number | null; // percent
  low: number | null; // set by hand, or by "fit to what is visible"
  high: number | null;
  leaveFirst: boolean;
}

export type Upto = "unit" | "max" | "clip" | "own";

/** Where the range ends: at 1, at the largest, at a percentile, or where somebody put it. */
export function upto({ value, range: asked, clip, high }: Wish): Upto {
  if (high !== null) return "own";
  if (clip !== null) return "clip";
  return asked === "unit" && value === "prob" ? "unit" : "max";
}

/** Does the end of the range hang on what the tiles hold? Otherwise nothing in the window can move a colour. */
export const measured = (wish: Wish): boolean => ["max", "clip"].includes(upto(wish));

/** The end of a measured range. null: nothing to measure. */
export function endOf(parts: readonly Part[], wish: Pick<Wish, "clip" | "leaveFirst">, signed: boolean): number | null {
  return percentile(ordered(parts, { leaveFirst: wish.leaveFirst, signed }), wish.clip ?? 100);
}

/** `found`: the end of a measured range, null while it is not known. */
export function rangeOf(wish: Wish, found: number | null, signed: boolean): Range {
  const high = wish.high ?? (measured(wish) ? (found ?? 1) : 1);
  return range(wish.transfer, high, { root: wish.root, low: wish.low, signed });
}

const NEGLIGIBLE = 1e-3; // a low end below this part of the high one is 0: no eye sees the difference
const DEEPEST = 1e-6; // the floor of a fitted logarithmic scale, as a part of the high end

/** The range that just holds the parts, as numbers to keep: it stays when the window moves. null: nothing is there. */
export function fitted(parts: readonly Part[], wish: Wish, signed: boolean): { low: number | null; high: number } | null {
  const values = ordered(parts, { leaveFirst: wish.leaveFirst, signed });
  const most = percentile(values, wish.clip ?? 100);
  if (most === null || !(most > 0) || !Number.isFinite(most)) return null;
  const high = upwards(most);
  if (wish.transfer === "log") {
    const least = (wish.clip === null ? leastPositive(values) : percentile(values, 100 - wish.clip)) ?? 0;
    const low = downwards(Math.max(least, high * DEEPEST));
    return { low: low < high / 2 ? low : null, high };
  }
  const least = signed ? 0 : (percentile(values, wish.clip === null ? 0 : 100 - wish.clip) ?? 0);
  const low = downwards(least);
  return { low: low > high * NEGLIGIBLE && low < high ? low : null, high };
}

/** Three digits, and nothing falls outside for it. */
function upwards(value: number): number {
  const near = rounded(value);
  return near >= value ? near : rounded(near + unit(value));
}
function downwards(value: number): number {
  const near = rounded(value);
  return near <= value ? near : rounded(near - unit(value));
}
const unit = (value: number): number => 10 ** (Math.floor(Math.log10(value)) - 2);
