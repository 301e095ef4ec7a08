// Small pictures of heads: 64 × 64 pixels each, by the rules of a tile.
import type { Squares } from "./base.ts";
import { payload, type Reduce } from "./tile.ts";

export const THUMB = 64;

/** The finest zoom at which 64 × 64 pixels hold everything. */
export function thumbZoom(queries: number, keys: number): number {
  return Math.ceil(Math.log2(Math.max(1, Math.ceil(Math.max(queries, keys) / THUMB))));
}

/** The values of each head, then the states of each. */
export function thumbsPayload(pictures: readonly Squares[], reduce: Reduce): ArrayBuffer {
  const cells = THUMB * THUMB;
  const all = new Uint8Array(pictures.length * cells * 5);
  pictures.forEach((squares, head) => {
    const one = new Uint8Array(payload(squares, reduce, THUMB));
    all.set(one.subarray(0, cells * 4), head * cells * 4);
    all.set(one.subarray(cells * 4), pictures.length * cells * 4 + head * cells);
  });
  return all.buffer;
}
