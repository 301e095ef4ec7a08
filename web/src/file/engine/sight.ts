// Which keys each query may see: ranges of keys, less the keys that are padding; or cell by cell, packed in bits.

export interface Ranges {
  /** Of each row. */
  count: number;
  /** (count, q_len). Range r of row i is [starts[r · q_len + i], stops[…]). */
  starts: Int32Array;
  stops: Int32Array;
}

/** The runs of keys that a row sees: pairs of first and one past the last, in order. */
export type Runs = number[];

export abstract class Sight {
  constructor(
    readonly queries: number,
    readonly keys: number,
  ) {}

  /** The runs of a row between two keys. */
  abstract runs(row: number, from: number, to: number): Runs;

  sees(row: number, key: number): boolean {
    return this.runs(row, key, key + 1).length > 0;
  }

  /** The keys between which some of these rows see anything: [first, one past the last], equal where nothing. */
  span(rows: readonly number[], from: number, to: number): [number, number] {
    let [first, stop] = [to, from];
    for (const row of rows) {
      const runs = this.runs(row, from, to);
      if (runs.length === 0) continue;
      first = Math.min(first, runs[0]!);
      stop = Math.max(stop, runs.at(-1)!);
    }
    return first < stop ? [first, stop] : [from, from];
  }
}

export class SightByRanges extends Sight {
  private readonly shown: { starts: number[]; stops: number[] } | null;

  /** shown: a bit a key, the first in the lowest bit; null: no padding. */
  constructor(
    queries: number,
    keys: number,
    private readonly ranges: Ranges,
    shown: Uint8Array | null,
  ) {
    super(queries, keys);
    this.shown = shown === null ? null : runsOfBits(shown, 0, keys);
  }

  runs(row: number, from: number, to: number): Runs {
    const found: Runs = [];
    const { count, starts, stops } = this.ranges;
    for (let range = 0; range < count; range++) {
      const first = Math.max(from, starts[range * this.queries + row]!);
      const stop = Math.min(to, stops[range * this.queries + row]!);
      if (first >= stop) continue;
      if (this.shown === null) found.push(first, stop);
      else within(this.shown, first, stop, found);
    }
    return found;
  }
}

/** Every cell has its bit: row after row, each row from a new byte. */
export class SightByCells extends Sight {
  private readonly line: number;

  constructor(
    queries: number,
    keys: number,
    private readonly bits: Uint8Array,
  ) {
    super(queries, keys);
    this.line = Math.ceil(keys / 8);
  }

  runs(row: number, from: number, to: number): Runs {
    const { starts, stops } = runsOfBits(this.bits.subarray(row * this.line, (row + 1) * this.line), from, to);
    return starts.flatMap((start, i) => [start, stops[i]!]);
  }
}

/** Every key. */
export function everything(queries: number, keys: number): Sight {
  return new SightByRanges(queries, keys, {
    count: 1,
    starts: new Int32Array(queries),
    stops: new Int32Array(queries).fill(keys),
  }, null); // prettier-ignore
}

/** Keys up to the query's own position. */
export function causal(queries: number, keys: number, offset: number): Sight {
  const stops = Int32Array.from({ length: queries }, (_, row) => Math.min(keys, Math.max(0, row + offset + 1)));
  return new SightByRanges(queries, keys, { count: 1, starts: new Int32Array(queries), stops }, null);
}

function runsOfBits(bits: Uint8Array, from: number, to: number): { starts: number[]; stops: number[] } {
  const [starts, stops]: [number[], number[]] = [[], []];
  let open = false;
  for (let i = from; i < to; i++) {
    const on = ((bits[i >> 3]! >> (i & 7)) & 1) === 1;
    if (on !== open) (on ? starts : stops).push(i);
    open = on;
  }
  if (open) stops.push(to);
  return { starts, stops };
}

/** The parts of [first, stop) that lie in the runs. */
function within({ starts, stops }: { starts: number[]; stops: number[] }, first: number, stop: number, found: Runs): void {
  let [low, high] = [0, stops.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (stops[middle]! <= first) low = middle + 1;
    else high = middle;
  }
  for (let i = low; i < starts.length && starts[i]! < stop; i++) {
    found.push(Math.max(first, starts[i]!), Math.min(stop, stops[i]!));
  }
}
