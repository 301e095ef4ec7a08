// Which reductions of a combined map are exact where one looks, and what to show where the chosen one is not.
import type { ExactDocument, MapDocument, Reduce } from "../read/documents";

const REDUCES: readonly Reduce[] = ["max", "mean", "share"];

/** The reductions that are exact at a zoom, and those that must wait for a finer one. */
export function exactAt(exact: ExactDocument, zoom: number): { now: Reduce[]; later: Reduce[] } {
  return { now: REDUCES.filter((one) => zoom <= exact[one]), later: REDUCES.filter((one) => zoom > exact[one]) };
}

/** The reduction to show a map with from the first: the one chosen if it is exact for the whole map, else one that is. */
export function fitting({ exact, zooms }: Pick<MapDocument, "exact" | "zooms">, chosen: Reduce): Reduce {
  const { now } = exactAt(exact, zooms - 1);
  return now.includes(chosen) ? chosen : (now[0] ?? chosen);
}
