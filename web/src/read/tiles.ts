// Fetches the tiles a window wants: the coarsest first, what is no longer wanted is cancelled, what is kept is bounded.
import type { Place } from "../scales/tileGrid";
import { aborted } from "./api";
import type { TileCache } from "./tileCache";
import type { Tile } from "./tile";

export type Fetcher = (place: Place, signal: AbortSignal) => Promise<Tile>;

export const nameOf = ({ zoom, row, column }: Place): string => `${zoom}/${row}/${column}`;

interface Options {
  arrived: (place: Place, tile: Tile) => void;
  complain: (failure: unknown) => void;
  dropped?: (place: Place) => void;
  capacity?: number; // tiles, 320 KiB each
  lanes?: number; // asked for at a time
  /** Tiles of this and other maps that were here before; `name` is this map's. */
  cache?: { name: string; tiles: TileCache };
}

export class TileSource {
  private readonly kept = new Map<string, { place: Place; tile: Tile }>(); // in order of last use
  private readonly pending = new Map<string, AbortController>();
  private readonly failed = new Set<string>();
  private queue: Place[] = [];
  private renewing = false; // previews that are kept are asked for again

  constructor(
    private readonly fetcher: Fetcher,
    private readonly options: Options,
  ) {}

  get(place: Place): Tile | undefined {
    return this.kept.get(nameOf(place))?.tile;
  }

  /** Every tile that is here. */
  here(): Iterable<{ place: Place; tile: Tile }> {
    return this.kept.values();
  }

  /** Ask for these and nothing else, in this order. */
  want(places: readonly Place[]): void {
    const wanted = new Set(places.map(nameOf));
    for (const [name, abort] of this.pending) {
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
      }
      if (this.pending.has(name) || this.failed.has(name)) continue;
      if (held === undefined || (held.tile.preview && this.renewing)) {
        const known = this.options.cache?.tiles.get(this.cached(name));
        if (known === undefined) this.queue.push(place);
        else this.keep(place, known);
      }
    }
    this.pump();
  }

  /** Try again what failed. */
  retry(): void {
    this.failed.clear();
  }

  /** From now on previews give way to what they stand for; say what is wanted afterwards. */
  renew(): void {
    this.renewing = true;
  }

  stop(): void {
    for (const abort of this.pending.values()) abort.abort();
    this.pending.clear();
    this.queue = [];
    this.kept.clear();
  }

  private cached(name: string): string {
    return `${this.options.cache?.name ?? ""}|${name}`;
  }

  /** The tile that was asked for early; if that came to nothing, ask as usual. */
  private coming(name: string): Promise<Tile> | undefined {
    return this.options.cache?.tiles.expected(this.cached(name));
  }

  private pump(): void {
    while (this.pending.size < (this.options.lanes ?? 4)) {
      const place = this.queue.shift();
      if (place === undefined) return;
      void this.fetch(place);
    }
  }

  private async fetch(place: Place): Promise<void> {
    const name = nameOf(place);
    const abort = new AbortController();
    this.pending.set(name, abort);
    try {
      const tile = await (this.coming(name) ?? this.fetcher(place, abort.signal));
      if (abort.signal.aborted) return;
      this.options.cache?.tiles.put(this.cached(name), tile);
      this.keep(place, tile);
    } catch (failure) {
      if (abort.signal.aborted || aborted(failure)) return;
      this.failed.add(name);
      this.options.complain(failure);
    } finally {
      if (this.pending.get(name) === abort) this.pending.delete(name);
      this.pump();
    }
  }

  private keep(place: Place, tile: Tile): void {
    const name = nameOf(place);
    this.kept.delete(name);
    this.kept.set(name, { place, tile });
    this.options.arrived(place, tile);
    for (const [oldest, { place: one }] of this.kept) {
      if (this.kept.size <= (this.options.capacity ?? 96)) return;
      this.kept.delete(oldest);
      this.options.dropped?.(one);
    }
  }
}
