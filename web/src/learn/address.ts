// The address of one exercise with its numbers: #/exercise/ID?seed=7.
import { MOST_SEEDS } from "../exercise/serve";
import { address } from "../model/route.svelte";

export function exercisePath(id: string): string {
  return `/exercise/${encodeURIComponent(id)}`;
}

export function seedQuery(seed: number | null): URLSearchParams {
  return new URLSearchParams(seed === null ? {} : { seed: String(seed) });
}

export function exerciseAddress(id: string, seed: number | null): string {
  return address(exercisePath(id), seedQuery(seed));
}

/** The seed of an address; what is no seed counts as none. */
export function seedOf(query: URLSearchParams): number | null {
  const text = query.get("seed") ?? "";
  return /^\d{1,10}$/.test(text) && Number(text) < MOST_SEEDS ? Number(text) : null;
}
