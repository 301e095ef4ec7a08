// One head under one mask: its panels of probs, its rows in float64. Work is done in steps, so that it can be left.
import { ROWS, type Kernel } from "./kernel.ts";
import type { Sight } from "./sight.ts";

/** What a head consists of, decoded. q (queries, dim) and k (keys, dim), or the probs themselves. */
export interface Arrays {
  q: Float32Array;
  k: Float32Array;
  dim: number;
  scale: number;
  softcap: number | null;
  sink: number | null;
  vNorm: Float32Array | null;
  probs: Float32Array | null;
}

/** A panel that the kernel now holds. */
export interface Panel {
  rows: readonly number[];
  firstKey: number;
  keys: number;
}

/** Work in steps: each yields how much of it is done, 0 … 1. */
export type Steps<Result> = Generator<number, Result, void>;

const CELLS = 1 << 19; // of a panel, where its keys allow it: 4 MB

export class Attention {
  readonly queries: number;
  readonly keys: number;
  private readonly lse: Float64Array;
  private readonly known: Uint8Array; // rows whose lse is known
  /** Entropy of each row that a whole pass went over. */
  readonly entropy: Float64Array;
  private runs = new Int32Array(3 * ROWS);

  constructor(
    readonly arrays: Arrays,
    readonly sight: Sight,
    private readonly kernel: Kernel,
    /** Tells the kernel that this head's keys are wanted. */
    private readonly load: () => void,
    stored: Float64Array | null,
  ) {
    [this.queries, this.keys] = [sight.queries, sight.keys];
    this.lse = new Float64Array(this.queries);
    if (stored !== null) this.lse.set(stored);
    this.known = new Uint8Array(this.queries).fill(stored === null ? 0 : 1);
    this.entropy = new Float64Array(this.queries);
  }

  /** Probs of some rows and the keys that they see between two, panel by panel, each in the kernel when it is given out. */
  *panels(rows: readonly number[], from: number, to: number, align: number): Generator<Panel, void, void> {
    const wide = Math.max(1, to - from);
    const height = Math.min(ROWS, Math.max(16, 2 ** Math.floor(Math.log2(CELLS / wide))));
    for (let at = 0; at < rows.length; at += height) {
      const some = rows.slice(at, at + height);
      const [first, stop] = this.sight.span(some, from, to);
      const firstKey = from + Math.floor((first - from) / align) * align;
      if (stop > firstKey) {
        this.fill(some, firstKey, stop);
        yield { rows: some, firstKey, keys: stop - firstKey };
      } else {
        yield { rows: some, firstKey: from, keys: 0 };
      }
    }
  }

  private fill(rows: readonly number[], from: number, to: number): void {
    const { probs } = this.arrays;
    this.load();
    if (probs !== null) {
      const values = new Float32Array(rows.length * (to - from));
      rows.forEach((row, i) => values.set(probs.subarray(row * this.keys + from, row * this.keys + to), i * (to - from)));
      this.kernel.fill(values, rows.length, from, to - from);
      this.see(rows, from, to);
      return;
    }
    if (rows.every((row) => this.known[row] === 1)) {
      this.logits(rows, from, to);
    } else {
      const [first, stop] = this.sight.span(rows, 0, this.keys);
      const all = from <= first && stop <= to; // the panel is all that lse needs
      if (!all) this.observe(rows);
      this.logits(rows, from, to);
      if (all) this.gather(rows);
    }
    this.weigh(rows);
  }

  private logits(rows: readonly number[], from: number, to: number): void {
    const { q, dim, scale, softcap } = this.arrays;
    const some = new Float32Array(rows.length * dim);
    rows.forEach((row, i) => some.set(q.subarray(row * dim, (row + 1) * dim), i * dim));
    this.kernel.logits(some, rows.length, from, to - from, scale, softcap ?? 0);
    this.see(rows, from, to);
  }

  private weigh(rows: readonly number[]): void {
    const entropy = new Float64Array(rows.length);
    this.kernel.weigh(Float64Array.from(rows, (row) => this.lse[row]!), entropy);
    rows.forEach((row, i) => (this.entropy[row] = entropy[i]!));
  }

  /** lse of these rows, from all the keys that they see. */
  private observe(rows: readonly number[]): void {
    const [first, stop] = this.sight.span(rows, 0, this.keys);
    this.load();
    this.logits(rows, first, Math.max(stop, first + 1));
    this.gather(rows);
  }

  /** lse of these rows, whose logits the panel holds. */
  private gather(rows: readonly number[]): void {
    const sink = this.arrays.sink ?? -Infinity;
    const most = new Float64Array(rows.length).fill(sink);
    const sum = new Float64Array(rows.length).fill(sink === -Infinity ? 0 : 1);
    this.kernel.gather(most, sum);
    rows.forEach((row, i) => {
      this.lse[row] = most[i] === -Infinity ? -Infinity : most[i]! + Math.log(sum[i]!);
      this.known[row] = 1;
    });
  }

  private see(rows: readonly number[], from: number, to: number): void {
    let count = 0;
    rows.forEach((row, i) => {
      const runs = this.sight.runs(row, from, to);
      for (let at = 0; at < runs.length; at += 2) {
        if (this.runs.length < 3 * count + 3) {
          const more = new Int32Array(2 * this.runs.length);
          more.set(this.runs);
          this.runs = more;
        }
        this.runs[3 * count] = i;
        this.runs[3 * count + 1] = runs[at]! - from;
        this.runs[3 * count + 2] = runs[at + 1]! - from;
        count += 1;
      }
    });
    this.kernel.see(this.runs, count);
  }

  /** lse of every row, worked out where it is not stored. */
  *allLse(): Steps<Float64Array> {
    const missing = [...this.known.keys()].filter((row) => this.known[row] === 0);
    for (let at = 0; at < missing.length; at += ROWS) {
      this.observe(missing.slice(at, at + ROWS));
      yield at / missing.length;
    }
    return this.lse;
  }

  /** Runs of one row, less some keys. */
  visible(row: number, hidden: ReadonlySet<number> = new Set()): Uint8Array {
    const seen = new Uint8Array(this.keys);
    const runs = this.sight.runs(row, 0, this.keys);
    for (let at = 0; at < runs.length; at += 2) seen.fill(1, runs[at]!, runs[at + 1]!);
    for (const key of hidden) seen[key] = 0;
    return seen;
  }

  /** What the softmax takes of one cell, float64, whatever the mask. */
  logit(row: number, key: number): number {
    const { q, k, dim, scale, softcap } = this.arrays;
    let dot = 0;
    for (let d = 0, a = row * dim, b = key * dim; d < dim; d++) dot += q[a + d]! * k[b + d]!;
    const score = dot * scale;
    return softcap === null ? score : softcap * Math.tanh(score / softcap);
  }

  /** One row by the formula, float64: the stored lse is not used. */
  row(row: number, hidden: ReadonlySet<number> = new Set()): { probs: Float64Array; visible: Uint8Array; lse: number; sink: number } {
    const visible = this.visible(row, hidden);
    const probs = new Float64Array(this.keys);
    if (this.arrays.probs !== null) return { ...this.given(row, visible, hidden.size > 0), visible };
    const sink = this.arrays.sink ?? -Infinity;
    let top = sink;
    for (let key = 0; key < this.keys; key++) {
      if (visible[key] === 0) continue;
      probs[key] = this.logit(row, key);
      top = Math.max(top, probs[key]!);
    }
    if (top === -Infinity) return { probs: probs.fill(0), visible, lse: -Infinity, sink: 0 };
    const own = Math.exp(sink - top);
    let sum = own;
    for (let key = 0; key < this.keys; key++) {
      if (visible[key] === 0) continue;
      probs[key] = Math.exp(probs[key]! - top);
      sum += probs[key]!;
    }
    for (let key = 0; key < this.keys; key++) probs[key]! /= sum;
    return { probs, visible, lse: top + Math.log(sum), sink: own / sum };
  }

  private given(row: number, visible: Uint8Array, again: boolean): { probs: Float64Array; lse: number; sink: number } {
    const values = this.arrays.probs!.subarray(row * this.keys, (row + 1) * this.keys);
    const probs = Float64Array.from(values, (p, key) => (visible[key] === 1 ? p : 0));
    const sum = probs.reduce((total, p) => total + p, 0);
    const whole = values.reduce((total, p) => total + p, 0);
    const sink = Math.max(0, 1 - whole); // less what the hidden keys had
    if (again && sum > 0) for (let key = 0; key < probs.length; key++) probs[key]! /= sum + sink;
    return { probs, lse: NaN, sink: again && sum > 0 ? sink / (sum + sink) : sink };
  }

  /** One cell by the stored lse, float64; 0 where hidden. */
  cell(row: number, key: number): number {
    if (!this.sight.sees(row, key)) return 0;
    if (this.arrays.probs !== null) return this.arrays.probs[row * this.keys + key]!;
    if (this.known[row] === 0) this.observe([row]);
    const lse = this.lse[row]!;
    return lse === -Infinity ? 0 : Math.exp(this.logit(row, key) - lse);
  }
}
