// Fetches the small pictures of the layers that are in sight, a layer at a time; what has left the sight is cancelled.
import { aborted } from "../read/api";
import type { Kind } from "../read/documents";
import type { Thumbs } from "../read/source";

export interface LayerName {
  kind: Kind;
  layer: number;
}
export type Fetcher = (layer: LayerName, signal: AbortSignal) => Promise<Thumbs>;

export const nameOfLayer = ({ kind, layer }: LayerName): string => `${kind} ${layer}`;

export class Thumbnails {
  private readonly kept = new Map<string, Thumbs>(); // 20 KiB a head: all of a model's stay
  private readonly failed = new Set<string>();
  private readonly pending = new Map<string, AbortController>();
  private queue: LayerName[] = [];
  private wanted = new Map<string, LayerName>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    private readonly fetcher: Fetcher,
    private readonly arrived: () => void,
    private readonly complain: (failure: unknown) => void,
    private readonly lanes = 2,
    private readonly againMs = 1000, // after which a preview is asked for anew
  ) {}

  get(layer: LayerName): Thumbs | undefined {
    return this.kept.get(nameOfLayer(layer));
  }

  get busy(): boolean {
    return this.pending.size > 0 || this.queue.length > 0;
  }

  /** Is something in sight a preview? */
  get rough(): boolean {
    return [...this.wanted.keys()].some((name) => this.kept.get(name)?.preview === true);
  }

  /** Ask for these and nothing else, in this order. */
  want(layers: readonly LayerName[]): void {
    this.wanted = new Map(layers.map((layer) => [nameOfLayer(layer), layer]));
    for (const [name, abort] of this.pending) {
      if (this.wanted.has(name)) continue;
      abort.abort();
      this.pending.delete(name);
    }
    this.queue = layers.filter((layer) => {
      const name = nameOfLayer(layer);
      return !this.kept.has(name) && !this.pending.has(name) && !this.failed.has(name);
    });
    this.pump();
    this.later();
  }

  stop(): void {
    clearTimeout(this.timer);
    this.wanted.clear();
    for (const abort of this.pending.values()) abort.abort();
    this.pending.clear();
    this.queue = [];
  }

  /** Previews in sight are asked for again until the real picture is there. */
  private later(): void {
    clearTimeout(this.timer);
    const previews = [...this.wanted].filter(([name]) => this.kept.get(name)?.preview === true && !this.failed.has(name));
    if (previews.length === 0) return;
    this.timer = setTimeout(() => {
      for (const [name, layer] of previews) if (!this.pending.has(name) && !this.queue.includes(layer)) this.queue.push(layer);
      this.pump();
    }, this.againMs);
  }

  private pump(): void {
    while (this.pending.size < this.lanes) {
      const layer = this.queue.shift();
      if (layer === undefined) return;
      void this.fetch(layer);
    }
  }

  private async fetch(layer: LayerName): Promise<void> {
    const name = nameOfLayer(layer);
    const abort = new AbortController();
    this.pending.set(name, abort);
    try {
      const found = await this.fetcher(layer, abort.signal);
      if (abort.signal.aborted) return;
      this.kept.set(name, found);
      this.arrived();
      if (found.preview) this.later();
    } catch (failure) {
      if (abort.signal.aborted || aborted(failure)) return;
      this.failed.add(name); // a failure is said once
      this.complain(failure);
    } finally {
      if (this.pending.get(name) === abort) this.pending.delete(name);
      this.pump();
    }
  }
}
