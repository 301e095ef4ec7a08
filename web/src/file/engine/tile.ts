// Tiles: 256 × 256 pixels of 2^zoom × 2^zoom cells, out of the cells themselves or out of a base; and their payload.
import type { Attention, Steps } from "./attention.ts";
import { add, emptySquares, type Base, type Squares } from "./base.ts";
import type { Kernel } from "./kernel.ts";

export const SIDE = 256;
const [VALUE, NOTHING, OUTSIDE] = [0, 1, 2];

export type Reduce = "max" | "mean" | "share";

export interface Address {
  zoom: number;
  row: number;
  column: number;
}

/** The pixels of a tile from q and k. `add` is done in steps, so that a tile nobody wants any more can be left. */
export function* fromCells(head: Attention, kernel: Kernel, weighted: boolean, { zoom, row, column }: Address): Steps<Squares> {
  const side = SIDE * 2 ** zoom;
  const [top, left] = [row * side, column * side];
  const [bottom, right] = [Math.min(top + side, head.queries), Math.min(left + side, head.keys)];
  const pixel = 2 ** zoom;
  const squares = emptySquares(Math.ceil((bottom - top) / pixel), Math.ceil((right - left) / pixel));
  const rows = Array.from({ length: Math.max(0, bottom - top) }, (_, i) => top + i);
  for (const one of rows) {
    if (head.sight.runs(one, 0, head.keys).length > 0) squares.rows[Math.floor((one - top) / pixel)]! += 1;
  }
  for (const panel of head.panels(rows, left, right, pixel)) {
    if (panel.keys > 0) {
      const [line, at] = [Math.floor((panel.rows[0]! - top) / pixel), (panel.firstKey - left) / pixel];
      add(squares, panel, kernel, weighted, zoom, zoom, line, at);
    }
    yield (panel.rows[0]! - top) / side;
  }
  return squares;
}

/** The pixels of a tile from a base, whose blocks are no larger than a pixel. */
export function fromBase(base: Base, { zoom, row, column }: Address): Squares {
  const many = 2 ** zoom / base.block; // blocks of a pixel's side
  const [top, left] = [row * SIDE * many, column * SIDE * many];
  const [bottom, right] = [Math.min(top + SIDE * many, base.down), Math.min(left + SIDE * many, base.across)];
  const squares = emptySquares(Math.ceil((bottom - top) / many), Math.ceil((right - left) / many));
  for (let i = top; i < bottom; i++) {
    const line = Math.floor((i - top) / many);
    squares.rows[line]! += base.rows[i]!;
    for (let j = left; j < right; j++) {
      const from = i * base.across + j;
      if (base.seen[from] === 0) continue;
      const to = line * squares.across + Math.floor((j - left) / many);
      if (!(base.most[from]! <= squares.most[to]!)) squares.most[to] = base.most[from]!;
      squares.total[to]! += base.total[from]!;
      squares.seen[to]! += base.seen[from]!;
    }
  }
  return squares;
}

/** One number a pixel. */
export function reduced(squares: Squares, at: number, reduce: Reduce): number {
  if (reduce === "max") return squares.most[at]!;
  const by = reduce === "mean" ? squares.seen[at]! : squares.rows[Math.floor(at / squares.across)]!;
  return squares.total[at]! / Math.max(1, by);
}

/** `side` × `side` float32, little-endian, then as many states. */
export function payload(squares: Squares, reduce: Reduce, side = SIDE): ArrayBuffer {
  const buffer = new ArrayBuffer(side * side * 5);
  const view = new DataView(buffer);
  const states = new Uint8Array(buffer, side * side * 4).fill(OUTSIDE);
  for (let i = 0; i < squares.down; i++) {
    for (let j = 0; j < squares.across; j++) {
      const [from, to] = [i * squares.across + j, i * side + j];
      const visible = squares.seen[from]! > 0;
      states[to] = visible ? VALUE : NOTHING;
      if (visible) view.setFloat32(to * 4, reduced(squares, from, reduce), true);
    }
  }
  return buffer;
}
