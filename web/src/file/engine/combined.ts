// Maps made of heads: the mean or the largest of several, the difference of two. What a block's mean, share or max follows
// from, it is made of; anything else is worked out cell by cell, near enough. A hidden cell is 0 where another shows it.
import type { MapDocument, Reduce, Value } from "../../read/documents";
import type { Attention, Steps } from "./attention.ts";
import { emptySquares, type Squares } from "./base.ts";
import type { Kernel } from "./kernel.ts";
import { Sight, type Runs } from "./sight.ts";
import type { Shown } from "./store.ts";
import { SIDE, type Address } from "./tile.ts";

export type How = "mean" | "max" | "difference";

const BY_BLOCKS: Readonly<Record<How, readonly Reduce[]>> = { mean: ["mean", "share"], max: ["max"], difference: ["mean", "share"] };
const BY_CELLS = 4; // the coarsest zoom at which a tile is worked out cell by cell: some 17 million of each head
const ROWS = 16; // of a panel

/** What any of several masks shows. */
class SightOfAny extends Sight {
  constructor(private readonly parts: readonly Sight[]) {
    super(parts[0]!.queries, parts[0]!.keys);
  }

  runs(row: number, from: number, to: number): Runs {
    return this.parts.map((part) => part.runs(row, from, to)).reduce(joined);
  }
}

export class Combined {
  readonly sight: Sight;
  readonly map: MapDocument;

  constructor(
    readonly how: How,
    readonly members: readonly Shown[],
  ) {
    const [first] = members;
    const sights = [...new Set(members.map(({ head }) => head.sight))];
    this.sight = sights.length === 1 ? sights[0]! : new SightOfAny(sights);
    const last = first!.held.map.zooms - 1;
    const exact = (reduce: Reduce): number => (this.byBlocks(reduce) ? last : Math.min(last, BY_CELLS));
    this.map = {
      ...first!.held.map,
      values: members.every(({ held }) => held.map.values.includes("value_norm")) ? ["prob", "value_norm"] : ["prob"],
      exact: { max: exact("max"), mean: exact("mean"), share: exact("share") },
    };
  }

  get signed(): boolean {
    return this.how === "difference";
  }

  /** Whether a reduce of the whole follows from that of the members' blocks. */
  byBlocks(reduce: Reduce): boolean {
    return BY_BLOCKS[this.how].includes(reduce);
  }

  /** One number out of the members'. */
  of(numbers: readonly number[]): number {
    if (this.how === "max") return numbers.reduce((most, one) => (one <= most ? most : one));
    if (this.signed) return numbers[0]! - numbers[1]!;
    return numbers.reduce((sum, one) => sum + one, 0) / numbers.length;
  }

  /** The pixels of a tile out of those of its members. */
  combined(parts: readonly Squares[], at: Address): Squares {
    const squares = counted(this.sight, at);
    for (let i = 0; i < squares.seen.length; i++) {
      if (squares.seen[i] === 0) continue;
      squares.most[i] = this.of(parts.map(({ most }) => most[i]!));
      squares.total[i] = this.of(parts.map(({ total }) => total[i]!));
    }
    return squares;
  }

  /** The same cell by cell. */
  *fromCells(kernel: Kernel, value: Value, at: Address): Steps<Squares> {
    const squares = counted(this.sight, at);
    const side = SIDE * 2 ** at.zoom;
    const [top, left] = [at.row * side, at.column * side];
    const [bottom, right] = [Math.min(top + side, this.sight.queries), Math.min(left + side, this.sight.keys)];
    for (let first = top; first < bottom; first += ROWS) {
      const rows = Array.from({ length: Math.min(ROWS, bottom - first) }, (_, i) => first + i);
      const panels = this.members.map(({ head }) => cellsOf(head, kernel, value, rows, left, right));
      rows.forEach((row, i) => {
        const line = Math.floor((row - top) / 2 ** at.zoom) * squares.across;
        const runs = this.sight.runs(row, left, right);
        for (let run = 0; run < runs.length; run += 2) {
          for (let key = runs[run]!; key < runs[run + 1]!; key++) {
            const cell = i * (right - left) + key - left;
            const number = this.of(panels.map((panel) => panel[cell]!));
            const to = line + Math.floor((key - left) / 2 ** at.zoom);
            if (farther(number, squares.most[to]!)) squares.most[to] = number;
            squares.total[to]! += number;
          }
        }
      });
      yield (first - top) / side;
    }
    return squares;
  }
}

/** NaN is the farthest of all; of two as far from 0 the positive one. */
function farther(number: number, than: number): boolean {
  const [one, other] = [Math.abs(number), Math.abs(than)];
  return !(one <= other) || (one === other && number > than);
}

/** Some cells of a head, (rows, keys from … to), 0 where hidden. */
function cellsOf(head: Attention, kernel: Kernel, value: Value, rows: readonly number[], from: number, to: number): Float64Array {
  const cells = new Float64Array(rows.length * (to - from));
  const weight = value === "value_norm" ? head.arrays.vNorm : null;
  for (const panel of head.panels(rows, from, to, 1)) {
    if (panel.keys === 0) continue;
    const { values, stride } = kernel.panel();
    rows.forEach((row, i) => {
      const runs = head.sight.runs(row, panel.firstKey, panel.firstKey + panel.keys);
      for (let run = 0; run < runs.length; run += 2) {
        for (let key = runs[run]!; key < runs[run + 1]!; key++) {
          cells[i * (to - from) + key - from] = values[i * stride + key - panel.firstKey]! * (weight?.[key] ?? 1);
        }
      }
    });
  }
  return cells;
}

/** Empty pixels of a tile, with the number of the cells and rows that can be seen. */
function counted(sight: Sight, { zoom, row, column }: Address): Squares {
  const side = SIDE * 2 ** zoom;
  const [top, left] = [row * side, column * side];
  const [bottom, right] = [Math.min(top + side, sight.queries), Math.min(left + side, sight.keys)];
  const pixel = 2 ** zoom;
  const squares = emptySquares(Math.ceil((bottom - top) / pixel), Math.ceil((right - left) / pixel));
  for (let query = top; query < bottom; query++) {
    const line = Math.floor((query - top) / pixel);
    if (sight.runs(query, 0, sight.keys).length > 0) squares.rows[line]! += 1;
    const runs = sight.runs(query, left, right);
    for (let run = 0; run < runs.length; run += 2) {
      for (let key = runs[run]!; key < runs[run + 1]!; ) {
        const at = Math.floor((key - left) / pixel);
        const end = Math.min(runs[run + 1]!, left + (at + 1) * pixel);
        squares.seen[line * squares.across + at]! += end - key;
        key = end;
      }
    }
  }
  return squares;
}

/** The runs of two, joined where they meet. */
function joined(one: Runs, other: Runs): Runs {
  const pairs = [...pairsOf(one), ...pairsOf(other)].sort((a, b) => a[0] - b[0]);
  const found: Runs = [];
  for (const [first, stop] of pairs) {
    const last = found.length - 1;
    if (last > 0 && first <= found[last]!) found[last] = Math.max(found[last]!, stop);
    else found.push(first, stop);
  }
  return found;
}

function pairsOf(runs: Runs): [number, number][] {
  return Array.from({ length: runs.length / 2 }, (_, i) => [runs[2 * i]!, runs[2 * i + 1]!]);
}
