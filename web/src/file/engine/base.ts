// The whole matrix in blocks, from which the coarse tiles come: read from the file, or made by a pass over the head.
import type { Attention, Panel, Steps } from "./attention.ts";
import { PIXELS, type Kernel } from "./kernel.ts";
import type { Sight } from "./sight.ts";

/** Squares of cells in lines of `across`: largest, total and number of the visible; rows of a line that see something. */
export interface Squares {
  down: number;
  across: number;
  most: Float32Array;
  total: Float32Array;
  seen: Uint32Array;
  rows: Uint32Array;
}

export interface Base extends Squares {
  block: number; // cells of a side
}

/** Cells of a block's side: 16 up to 16,384 tokens, then doubling, so that a line has at most 1,024 blocks. */
export function blockOf(queries: number, keys: number): number {
  let block = 16;
  while (block * 1024 < Math.max(queries, keys)) block *= 2;
  return block;
}

export function emptySquares(down: number, across: number): Squares {
  const count = down * across;
  return {
    down,
    across,
    most: new Float32Array(count),
    total: new Float32Array(count),
    seen: new Uint32Array(count),
    rows: new Uint32Array(down),
  };
}

function emptyBase(sight: Sight, block: number): Base {
  return { ...emptySquares(Math.ceil(sight.queries / block), Math.ceil(sight.keys / block)), block };
}

/** Add a panel to squares of 2^down of its rows × 2^right keys; its first lies at (line, column). */
export function add(squares: Squares, panel: Panel, kernel: Kernel, weighted: boolean, down: number, right: number, line: number, column: number): void {
  const count = Math.ceil(panel.keys / 2 ** right);
  const lines = Math.ceil(panel.rows.length / 2 ** down);
  if (count * lines > PIXELS) throw new RangeError("a panel has too many pixels");
  const { most, total, seen } = kernel.pixels(weighted, down, right, count, lines);
  for (let i = 0, from = 0; i < lines; i++) {
    for (let j = 0, to = (line + i) * squares.across + column; j < count; j++, from++, to++) {
      if (seen[from] === 0) continue;
      const top = most[from]!;
      if (!(top <= squares.most[to]!)) squares.most[to] = top; // a NaN stays
      squares.total[to]! += total[from]!;
      squares.seen[to]! += seen[from]!;
    }
  }
}

/** The base of the file: its blocks in order, those where nothing is visible left out. */
export function storedBase(sight: Sight, most: Float32Array, total: Float32Array): Base {
  const block = blockOf(sight.queries, sight.keys);
  const base = emptyBase(sight, block);
  for (let row = 0; row < sight.queries; row++) {
    const line = Math.floor(row / block);
    const runs = sight.runs(row, 0, sight.keys);
    if (runs.length > 0) base.rows[line]! += 1;
    for (let at = 0; at < runs.length; at += 2) {
      const stop = runs[at + 1]!;
      for (let key = runs[at]!; key < stop; ) {
        const end = Math.min(stop, (Math.floor(key / block) + 1) * block);
        base.seen[line * base.across + Math.floor(key / block)]! += end - key;
        key = end;
      }
    }
  }
  let next = 0;
  base.seen.forEach((seen, at) => {
    if (seen === 0) return;
    base.most[at] = most[next]!;
    base.total[at] = total[next]!;
    next += 1;
  });
  if (next !== most.length) throw new RangeError(`the base of the file has ${most.length} blocks; the mask leaves ${next}`);
  return base;
}

export interface Made {
  base: Base;
  received: Float32Array;
}

/** Make the base of a head from every row, or (step 16) from every 16th as a preview. */
export function* make(head: Attention, kernel: Kernel, weighted: boolean, step: 1 | 16): Steps<Made> {
  const base = emptyBase(head.sight, blockOf(head.queries, head.keys));
  const right = Math.log2(base.block);
  const down = right - Math.log2(step);
  const received = new Float64Array(head.keys);
  const looked = new Uint32Array(head.keys);
  const rows = Array.from({ length: Math.ceil(head.queries / step) }, (_, i) => i * step);
  for (const panel of head.panels(rows, 0, head.keys, base.block)) {
    for (const row of panel.rows) {
      if (head.sight.runs(row, 0, head.keys).length > 0) base.rows[Math.floor(row / base.block)]! += 1;
    }
    if (panel.keys > 0) {
      add(base, panel, kernel, weighted, down, right, Math.floor(panel.rows[0]! / base.block), panel.firstKey / base.block);
      const { total, seen } = kernel.received();
      for (let i = 0; i < panel.keys; i++) {
        received[panel.firstKey + i]! += total[i]!;
        looked[panel.firstKey + i]! += seen[i]!;
      }
    }
    yield panel.rows[0]! / head.queries;
  }
  return { base, received: Float32Array.from(received, (sum, key) => (looked[key] === 0 ? NaN : sum / looked[key]!)) };
}
