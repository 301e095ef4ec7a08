// Fetches the tiles a window wants: the coarsest first, what is no longer wanted is cancelled, the cache is bounded.
import type { Place } from "../scales/tileGrid";
import { aborted } from "./api";
import type { Tile } from "./tile";

export type Fetcher = (place: Place, signal: AbortSignal) => Promise<Tile>;

interface Pending {
  place: Place;
  abort: AbortController;
}

export const nameOf = ({ zoom, row, column }: Place): string => `${zoom}/${row}/${column}`;

export class TileSource {
  private readonly kept = new Map<string, { place: Place; tile: Tile }>(); // in order of last use
  private readonly pending = new Map<string, Pending>();
  private queue: Place[] = [];
  private failed = new Set<string>();

  constructor(
    private readonly fetcher: Fetcher,
    private readonly arrived: (place: Place, tile: Tile) => void,
    private readonly complain: (failure: unknown) => void,
    private readonly dropped: (place: Place) => void = () => undefined,
    private readonly capacity = 96, // 320 KiB each
    private readonly lanes = 4,
  ) {}

  get(place: Place): Tile | undefined {
    return this.kept.get(nameOf(place))?.tile;
  }

  /** Every tile that is here, coarsest first. */
  here(): { place: Place; tile: Tile }[] {
    return [...this.kept.values()].sort((a, b) => b.place.zoom - a.place.zoom);
  }

  get busy(): boolean {
    return this.pending.size > 0 || this.queue.length > 0;
  }

  /** Ask for these and nothing else, in this order. */
  want(places: readonly Place[]): void {
    const wanted = new Set(places.map(nameOf));
    for (const [name, { abort }] of this.pending) {
      if (!wanted.has(name)) {
        abort.abort();
        this.pending.delete(name);
      }
    }
    this.queue = [];
    for (const place of places) {
      const name = nameOf(place);
      const held = this.kept.get(name);
      if (held !== undefined) {
        this.kept.delete(name); // to the end: used last
        this.kept.set(name, held);
      } else if (!this.pending.has(name) && !this.failed.has(name)) {
        this.queue.push(place);
      }
    }
    this.pump();
  }

  /** Try again what failed. */
  retry(): void {
    this.failed.clear();
  }

  stop(): void {
    for (const { abort } of this.pending.values()) abort.abort();
    this.pending.clear();
    this.queue = [];
    this.kept.clear();
  }

  private pump(): void {
    while (this.pending.size < this.lanes) {
      const place = this.queue.shift();
      if (place === undefined) return;
      void this.fetch(place);
    }
  }

  private async fetch(place: Place): Promise<void> {
    const name = nameOf(place);
    const abort = new AbortController();
    this.pending.set(name, { place, abort });
    try {
      const tile = await this.fetcher(place, abort.signal);
      if (abort.signal.aborted) return;
      this.kept.set(name, { place, tile });
      this.forget();
      this.arrived(place, tile);
    } catch (failure) {
      if (abort.signal.aborted || aborted(failure)) return;
      this.failed.add(name);
      this.complain(failure);
    } finally {
      if (this.pending.get(name)?.abort === abort) this.pending.delete(name);
      this.pump();
    }
  }

  private forget(): void {
    for (const [name, { place }] of this.kept) {
      if (this.kept.size <= this.capacity) return;
      this.kept.delete(name);
      this.dropped(place);
    }
  }
}
