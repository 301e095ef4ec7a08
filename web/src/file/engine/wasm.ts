// The engine in WASM SIMD: memory laid out here, arithmetic in `web/assembly/panel.ts`.
import code from "virtual:pozor-panel";
import { bytesOf } from "./arrays.ts";
import { PIXELS, ROWS, type Kernel, type Pooled } from "./kernel.ts";

interface Panel {
  memory: WebAssembly.Memory;
  room(bytes: number): boolean;
  logits(q: number, k: number, rows: number, keys: number, dim: number, scale: number, cap: number, wide: number, out: number, stride: number): void;
  gather(runs: number, count: number, panel: number, stride: number, most: number, sum: number): void;
  weigh(runs: number, count: number, panel: number, stride: number, lse: number, entropy: number): void;
  pixels(runs: number, count: number, panel: number, stride: number, weight: number, down: number, right: number, most: number, total: number, seen: number, across: number): void;
  receive(runs: number, count: number, panel: number, stride: number, received: number, seen: number): void;
}

const LANES = 4;
const START = 65_536; // below lies what the compiler put there

/** The engine, or null where the browser or the page's policy has none. */
export async function wasmKernel(): Promise<Kernel | null> {
  try {
    const { instance } = await WebAssembly.instantiate(bytesOf(code), { env: { abort: () => undefined } });
    return new WasmKernel(instance.exports as unknown as Panel);
  } catch {
    return null;
  }
}

class WasmKernel implements Kernel {
  readonly kind = "wasm";
  private dim = 1;
  private stride = 0;
  private rows = 0;
  private firstKey = 0;
  private count = 0;
  private weighted = false;
  // places in memory, in bytes
  private readonly most = START;
  private readonly total = this.most + PIXELS * 8;
  private readonly seen = this.total + PIXELS * 8;
  private readonly ofRows = this.seen + PIXELS * 4; // two float64 a row
  private readonly k = this.ofRows + ROWS * 16;
  private weight = 0;
  private given = 0;
  private givenSeen = 0;
  private q = 0;
  private wide = 0;
  private values = 0;
  private runs = 0;

  constructor(private readonly wasm: Panel) {}

  load(k: Float32Array, weight: Float32Array | null, dim: number, keys: number): void {
    [this.dim, this.weighted] = [dim, weight !== null];
    this.weight = up(this.k + k.byteLength);
    this.given = up(this.weight + keys * 4);
    this.givenSeen = this.given + (keys + LANES) * 8;
    this.q = up(this.givenSeen + (keys + LANES) * 4);
    this.wide = this.q + up(ROWS * dim * 4);
    this.values = this.wide + up(ROWS * dim * 16 + LANES * dim * 8);
    this.need(this.values);
    this.float32(this.k, k.length).set(k);
    if (weight !== null) this.float32(this.weight, keys).set(weight);
  }

  logits(q: Float32Array, rows: number, firstKey: number, keys: number, scale: number, cap: number): void {
    this.take(rows, firstKey, keys);
    this.float32(this.q, rows * this.dim).set(q.subarray(0, rows * this.dim));
    const from = this.k + firstKey * this.dim * 4;
    this.wasm.logits(this.q, from, rows, keys, this.dim, scale, cap, this.wide, this.values, this.stride);
  }

  fill(values: Float32Array, rows: number, firstKey: number, keys: number): void {
    this.take(rows, firstKey, keys);
    const to = this.panel().values;
    for (let row = 0; row < rows; row++) to.set(values.subarray(row * keys, (row + 1) * keys), row * this.stride);
  }

  see(runs: Int32Array, count: number): void {
    this.runs = this.values + this.rows * this.stride * 8;
    this.need(this.runs + count * 12);
    this.int32(this.runs, count * 3).set(runs.subarray(0, count * 3));
    this.count = count;
  }

  gather(most: Float64Array, sum: Float64Array): void {
    this.both(most, sum, (a, b) => this.wasm.gather(this.runs, this.count, this.values, this.stride, a, b));
  }

  weigh(lse: Float64Array, entropy: Float64Array): void {
    this.both(lse, entropy, (a, b) => this.wasm.weigh(this.runs, this.count, this.values, this.stride, a, b));
  }

  pixels(weighted: boolean, down: number, right: number, across: number, lines: number): Pooled {
    const most = this.float64(this.most, across * lines).fill(0);
    const total = this.float64(this.total, across * lines).fill(0);
    const seen = this.int32(this.seen, across * lines).fill(0);
    const weight = weighted && this.weighted ? this.weight + this.firstKey * 4 : 0;
    this.wasm.pixels(this.runs, this.count, this.values, this.stride, weight, down, right, this.most, this.total, this.seen, across);
    return { most, total, seen };
  }

  received(): { total: Float64Array; seen: Int32Array } {
    const total = this.float64(this.given, this.stride).fill(0);
    const seen = this.int32(this.givenSeen, this.stride).fill(0);
    this.wasm.receive(this.runs, this.count, this.values, this.stride, this.given, this.givenSeen);
    return { total, seen };
  }

  panel(): { values: Float64Array; stride: number } {
    return { values: this.float64(this.values, this.rows * this.stride), stride: this.stride };
  }

  private take(rows: number, firstKey: number, keys: number): void {
    [this.rows, this.firstKey, this.stride] = [rows, firstKey, Math.ceil(keys / LANES) * LANES];
    this.need(this.values + rows * this.stride * 8);
  }

  private both(first: Float64Array, second: Float64Array, work: (first: number, second: number) => void): void {
    const [a, b] = [this.ofRows, this.ofRows + ROWS * 8];
    this.float64(a, ROWS).set(first);
    this.float64(b, ROWS).set(second);
    work(a, b);
    first.set(this.float64(a, first.length));
    second.set(this.float64(b, second.length));
  }

  private need(bytes: number): void {
    if (!this.wasm.room(bytes)) throw new RangeError("no memory for a map of this length");
  }

  private float32(at: number, length: number): Float32Array {
    return new Float32Array(this.wasm.memory.buffer, at, length);
  }

  private int32(at: number, length: number): Int32Array {
    return new Int32Array(this.wasm.memory.buffer, at, length);
  }

  private float64(at: number, length: number): Float64Array {
    return new Float64Array(this.wasm.memory.buffer, at, length);
  }
}

const up = (bytes: number): number => Math.ceil(bytes / 16) * 16;
