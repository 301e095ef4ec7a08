// What stands on a pass over whole heads: bases, the tiles that come from them, margins. Made while nobody asks.
import type { BaseDocument, Value } from "../../read/documents";
import { blockOf, make, type Base, type Made, type Squares } from "./base.ts";
import type { Jobs } from "./jobs.ts";
import type { Kernel } from "./kernel.ts";
import type { Shown, Tracks } from "./store.ts";
import { fromBase, fromCells, type Address } from "./tile.ts";

const AT_ONCE = 4096; // tokens up to which a base is made without a preview

export type Wanted = () => boolean;

export class Bases {
  constructor(
    readonly kernel: Kernel,
    readonly jobs: Jobs,
  ) {}

  /** How far the base is; asking begins it. */
  document(shown: Shown, value: Value): BaseDocument {
    if (shown.base(value) !== null) return { ready: true, done: 1 };
    return { ready: false, done: this.begin(shown, value).done };
  }

  /** The pixels of a tile, and whether they are those of a preview. */
  async squares(shown: Shown, value: Value, at: Address, wanted: Wanted): Promise<{ squares: Squares; preview: boolean }> {
    if (2 ** at.zoom < blockOf(shown.head.queries, shown.head.keys)) {
      const steps = fromCells(shown.head, this.kernel, value === "value_norm", at);
      return { squares: await this.jobs.run(steps, wanted), preview: false };
    }
    const { base, preview } = await this.base(shown, value, wanted);
    return { squares: fromBase(base, at), preview };
  }

  async tracks(shown: Shown, wanted: Wanted): Promise<Tracks> {
    if (shown.tracks === null) await (this.small(shown) ? this.base(shown, "prob", wanted) : this.begin(shown, "prob").base);
    return shown.tracks ?? { entropy: new Float32Array(0), received: new Float32Array(0) };
  }

  private async base(shown: Shown, value: Value, wanted: Wanted): Promise<{ base: Base; preview: boolean }> {
    const there = shown.base(value);
    if (there !== null) return { base: there, preview: false };
    const weighted = value === "value_norm";
    if (this.small(shown)) {
      const made = await this.jobs.run(make(shown.head, this.kernel, weighted, 1), wanted);
      return { base: this.finish(shown, value, made), preview: false };
    }
    void this.begin(shown, value).base.catch(() => undefined);
    let preview = shown.previews.get(value);
    if (preview === undefined) {
      preview = this.jobs.run(make(shown.head, this.kernel, weighted, 16), () => true).then(({ base }) => base);
      preview.catch(() => shown.previews.delete(value));
      shown.previews.set(value, preview);
    }
    const rough = await preview;
    const now = shown.base(value);
    return now === null ? { base: rough, preview: true } : { base: now, preview: false };
  }

  private begin(shown: Shown, value: Value): { done: number; base: Promise<Base> } {
    const under = shown.making.get(value);
    if (under !== undefined) return under;
    const steps = make(shown.head, this.kernel, value === "value_norm", 1);
    const made = this.jobs.runBehind(steps, (done) => (work.done = done));
    const work = { done: 0, base: made.then((found) => this.finish(shown, value, found)) };
    work.base.catch(() => shown.making.delete(value));
    shown.making.set(value, work);
    return work;
  }

  private finish(shown: Shown, value: Value, made: Made): Base {
    shown.bases.set(value, made.base);
    shown.tracks ??= { entropy: Float32Array.from(shown.head.entropy), received: made.received };
    shown.making.delete(value);
    shown.previews.delete(value);
    return made.base;
  }

  private small(shown: Shown): boolean {
    return Math.max(shown.head.queries, shown.head.keys) <= AT_ONCE;
  }
}

/** Entropy of each query, then what each key receives: float32, little-endian. */
export function tracksPayload({ entropy, received }: Tracks): ArrayBuffer {
  const view = new DataView(new ArrayBuffer((entropy.length + received.length) * 4));
  entropy.forEach((number, i) => view.setFloat32(i * 4, number, true));
  received.forEach((number, i) => view.setFloat32((entropy.length + i) * 4, number, true));
  return view.buffer;
}
