// The heads of the file: their arrays decoded when they are first asked for, each head under each mask that is looked at.
import type { Value, Variant } from "../../read/documents";
import type { FileDocument, HeldHead } from "../held";
import { bytes, doubles, floats, integers, type ArrayDocument } from "./arrays.ts";
import { Attention, type Arrays } from "./attention.ts";
import { storedBase, type Base } from "./base.ts";
import type { Kernel } from "./kernel.ts";
import { causal, everything, SightByCells, SightByRanges, type Sight } from "./sight.ts";

export interface Tracks {
  entropy: Float32Array;
  received: Float32Array;
}

type Numbers = Float32Array | Float64Array | Int32Array | Uint8Array;

/** A head under a mask, with what is known of the whole of it. */
export class Shown {
  readonly bases = new Map<Value, Base>();
  readonly previews = new Map<Value, Promise<Base>>();
  readonly making = new Map<Value, { done: number; base: Promise<Base> }>();

  constructor(
    readonly held: HeldHead,
    readonly variant: Variant,
    readonly head: Attention,
    public tracks: Tracks | null,
    private readonly stored: { most: Float32Array; total: Float32Array } | null,
  ) {}

  /** The base, where it is there without a pass over the head. */
  base(value: Value): Base | null {
    if (value === "prob" && this.stored !== null && !this.bases.has(value)) {
      this.bases.set(value, storedBase(this.head.sight, this.stored.most, this.stored.total));
    }
    return this.bases.get(value) ?? null;
  }
}

const SHOWN = 24; // heads and masks kept with what was worked out of them
const BYTES = 768 << 20; // of decoded arrays

export class Store {
  private readonly decoded = new Map<string, Promise<Numbers>>();
  private readonly shown = new Map<string, Promise<Shown>>();
  private size = 0;
  private loaded: Arrays | null = null;

  constructor(
    readonly document: FileDocument,
    /** The base64 of each array. */
    private readonly texts: Readonly<Record<string, string>>,
    readonly kernel: Kernel,
  ) {}

  find(layer: number, kind: string, head: number): HeldHead | null {
    return this.document.heads.find((one) => one.layer === layer && one.kind === kind && one.head === head) ?? null;
  }

  show(held: HeldHead, variant: Variant): Promise<Shown> {
    const name = `${held.layer} ${held.kind} ${held.head} ${variant}`;
    const kept = this.shown.get(name) ?? this.open(held, variant);
    this.shown.delete(name); // to the end: used last
    this.shown.set(name, kept);
    kept.catch(() => this.shown.delete(name));
    for (const oldest of this.shown.keys()) {
      if (this.shown.size <= SHOWN) break;
      this.shown.delete(oldest);
    }
    return kept;
  }

  private async open(held: HeldHead, variant: Variant): Promise<Shown> {
    const of = held.arrays;
    const [q, k, probs, vNorm] = await Promise.all([of.q, of.k, of.probs, of.v_norm].map((name) => this.floats(name)));
    const none = new Float32Array(0);
    const arrays: Arrays = {
      q: q ?? none,
      k: k ?? none,
      probs: probs ?? null,
      vNorm: vNorm ?? null,
      dim: held.dim,
      scale: held.scale,
      softcap: held.softcap,
      sink: held.sink,
    };
    const sight = await this.sight(held, variant);
    const make = (stored: Float64Array | null): Attention => new Attention(arrays, sight, this.kernel, () => this.load(arrays, held.map.kv_len), stored);
    if (variant !== "recorded") return new Shown(held, variant, make(null), null, null);
    const lse = of.lse === null ? null : ((await this.numbers(of.lse, doubles)) as Float64Array);
    const [most, total, entropy, received] = await Promise.all(
      [of.most, of.total, of.entropy, of.received].map((name) => this.floats(name)),
    );
    const tracks = { entropy: entropy ?? none, received: received ?? none };
    return new Shown(held, variant, make(lse), tracks, most != null && total != null ? { most, total } : null);
  }

  private load(arrays: Arrays, keys: number): void {
    if (this.loaded === arrays) return;
    this.kernel.load(arrays.k, arrays.vNorm, arrays.dim, keys);
    this.loaded = arrays;
  }

  private async sight(held: HeldHead, variant: Variant): Promise<Sight> {
    const { starts, stops, shown, cells } = held.arrays;
    const { q_len, kv_len, q_offset } = held.map;
    if (variant === "causal") return causal(q_len, kv_len, q_offset);
    if (variant === "unmasked") return everything(q_len, kv_len);
    if (cells !== null) return new SightByCells(q_len, kv_len, (await this.numbers(cells, bytes)) as Uint8Array);
    if (starts === null || stops === null) throw new RangeError("the file does not say what is visible");
    const [first, last] = (await Promise.all([starts, stops].map((name) => this.numbers(name, integers)))) as [Int32Array, Int32Array];
    const padding = shown === null ? null : ((await this.numbers(shown, bytes)) as Uint8Array);
    return new SightByRanges(q_len, kv_len, { count: held.ranges, starts: first, stops: last }, padding);
  }

  private async floats(name: string | null): Promise<Float32Array | null> {
    return name === null ? null : ((await this.numbers(name, floats)) as Float32Array);
  }

  /** An array by name: heads share keys and masks. */
  private async numbers(name: string, decode: (base64: string, document: ArrayDocument) => Promise<Numbers>): Promise<Numbers> {
    const [text, document] = [this.texts[name], this.document.arrays[name]];
    if (text === undefined || document === undefined) throw new RangeError(`the file lacks its array ${name}`);
    let kept = this.decoded.get(name);
    if (kept === undefined) {
      kept = decode(text, document);
      this.decoded.set(name, kept);
      this.size += (await kept).byteLength;
      for (const [oldest, array] of this.decoded) {
        if (this.size <= BYTES || oldest === name) break;
        this.decoded.delete(oldest);
        this.size -= (await array).byteLength;
      }
    }
    return kept;
  }
}
