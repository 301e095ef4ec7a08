// The engine in plain JavaScript, where WASM is barred. `web/assembly/panel.ts` does the same; one test holds both.
import { PIXELS, type Kernel, type Pooled } from "./kernel.ts";

const LANES = 4;

export class PlainKernel implements Kernel {
  readonly kind = "js";
  private k: Float32Array = new Float32Array(0);
  private weight: Float32Array | null = null;
  private dim = 1;
  private values = new Float64Array(0);
  private stride = 0;
  private firstKey = 0;
  private runs: Int32Array = new Int32Array(0);
  private count = 0;
  private readonly most = new Float64Array(PIXELS);
  private readonly total = new Float64Array(PIXELS);
  private readonly seen = new Int32Array(PIXELS);

  load(k: Float32Array, weight: Float32Array | null, dim: number): void {
    [this.k, this.weight, this.dim] = [k, weight, dim];
  }

  private take(rows: number, firstKey: number, keys: number): void {
    this.stride = keys;
    this.firstKey = firstKey;
    if (this.values.length < rows * keys) this.values = new Float64Array(rows * keys);
  }

  logits(q: Float32Array, rows: number, firstKey: number, keys: number, scale: number, cap: number): void {
    this.take(rows, firstKey, keys);
    const { k, dim, values } = this;
    const part = new Float64Array(LANES * dim);
    for (let key = 0; key < keys; key += LANES) {
      const many = Math.min(LANES, keys - key);
      for (let lane = 0; lane < LANES; lane++) {
        const from = (firstKey + key + Math.min(lane, many - 1)) * dim;
        for (let d = 0; d < dim; d++) part[d * LANES + lane] = k[from + d]!;
      }
      for (let row = 0; row < rows; row++) {
        let [a, b, c, e] = [0, 0, 0, 0];
        for (let d = 0, at = 0, from = row * dim; d < dim; d++, at += LANES) {
          const x = q[from + d]!;
          a += x * part[at]!;
          b += x * part[at + 1]!;
          c += x * part[at + 2]!;
          e += x * part[at + 3]!;
        }
        const to = row * keys + key;
        values[to] = capped(a * scale, cap);
        if (many > 1) values[to + 1] = capped(b * scale, cap);
        if (many > 2) values[to + 2] = capped(c * scale, cap);
        if (many > 3) values[to + 3] = capped(e * scale, cap);
      }
    }
  }

  fill(values: Float32Array, rows: number, firstKey: number, keys: number): void {
    this.take(rows, firstKey, keys);
    this.values.set(values.subarray(0, rows * keys));
  }

  see(runs: Int32Array, count: number): void {
    [this.runs, this.count] = [runs, count];
  }

  gather(most: Float64Array, sum: Float64Array): void {
    this.each((row, first, stop) => {
      let top = most[row]!;
      for (let at = first; at < stop; at++) top = Math.max(top, this.values[at]!); // NaN stays
      if (Number.isNaN(top)) {
        most[row] = sum[row] = NaN;
        return;
      }
      if (top === -Infinity) return;
      let total = most[row] === -Infinity ? 0 : sum[row]! * Math.exp(most[row]! - top);
      for (let at = first; at < stop; at++) total += Math.exp(this.values[at]! - top);
      most[row] = top;
      sum[row] = total;
    });
  }

  weigh(lse: Float64Array, entropy: Float64Array): void {
    this.each((row, first, stop) => {
      const own = lse[row]!;
      let bits = 0;
      for (let at = first; at < stop; at++) {
        const x = this.values[at]! - own;
        const p = own === -Infinity ? 0 : Math.exp(x);
        this.values[at] = p;
        if (p !== 0) bits += p * x; // 0 · −∞ stands for 0
      }
      entropy[row]! -= bits;
    });
  }

  pixels(weighted: boolean, down: number, right: number, across: number, lines: number): Pooled {
    for (const array of [this.most, this.total, this.seen]) array.fill(0, 0, across * lines);
    const weight = weighted ? this.weight : null;
    this.each((row, first, stop) => {
      const line = row * this.stride;
      for (let cell = first; cell < stop; cell++) {
        const key = cell - line;
        const to = (row >> down) * across + (key >> right);
        const p = weight === null ? this.values[cell]! : this.values[cell]! * weight[this.firstKey + key]!;
        this.most[to] = Math.max(this.most[to]!, p);
        this.total[to]! += p;
        this.seen[to]! += 1;
      }
    });
    return { most: this.most, total: this.total, seen: this.seen };
  }

  received(): { total: Float64Array; seen: Int32Array } {
    const total = new Float64Array(this.stride);
    const seen = new Int32Array(this.stride);
    this.each((row, first, stop) => {
      const line = row * this.stride;
      for (let at = first; at < stop; at++) {
        total[at - line]! += this.values[at]!;
        seen[at - line]! += 1;
      }
    });
    return { total, seen };
  }

  panel(): { values: Float64Array; stride: number } {
    return { values: this.values, stride: this.stride };
  }

  /** Each run as places in the panel's numbers. */
  private each(visit: (row: number, first: number, stop: number) => void): void {
    for (let i = 0; i < this.count * 3; i += 3) {
      const row = this.runs[i]!;
      visit(row, row * this.stride + this.runs[i + 1]!, row * this.stride + this.runs[i + 2]!);
    }
  }
}

function capped(x: number, cap: number): number {
  return cap > 0 ? cap * Math.tanh(x / cap) : x;
}
