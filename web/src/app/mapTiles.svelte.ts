// The tiles of the map that is open: fetched, kept, put on the screen; previews give way when the base map is made.
import type { TileScreen } from "../marks/tileScreen";
import { aborted } from "../read/api";
import type { Reduce, Value } from "../read/documents";
import type { MapKey, Source } from "../read/source";
import { HIDDEN, ODD, type Tile } from "../read/tile";
import { tileCache } from "../read/tileCache";
import { TileSource } from "../read/tiles";
import type { Place } from "../scales/tileGrid";

export interface OpenMap {
  source: Source;
  key: MapKey;
  name: string; // unlike that of any other map or state of its files
  value: Value;
  reduce: Reduce;
}

/** What the tiles of a map are kept under. */
export const cacheName = ({ name, value, reduce }: Pick<OpenMap, "name" | "value" | "reduce">): string => `${name}|${value}|${reduce}`;

const SOONEST = 150; // ms between two questions how far the base is
const LATEST = 1000;

export class MapTiles {
  version = $state(0); // of what is here
  odd = $state.raw<readonly number[]>([]); // states of values that are no finite number, as far as they have been seen
  hidden = $state(false); // something hidden by a mask has been seen
  /** How much of the base map is made while previews stand for it; null: nothing is waited for. */
  done = $state<number | null>(null);
  private screen: TileScreen | null = null;
  private tiles: TileSource | null = null;
  private wanted: readonly Place[] = [];

  constructor(private readonly trouble: (failure: unknown) => void) {}

  /** From now on tiles are shown there. */
  attach(screen: TileScreen): void {
    this.screen = screen;
    for (const { place, tile } of this.tiles?.here() ?? []) screen.add(place, tile);
  }

  /** Show this map until the returned function is called. What was shown stays, pale, until there is something new. */
  open(map: OpenMap): () => void {
    const { source, key, value, reduce } = map;
    const over = new AbortController();
    let waiting = true;
    let watching = false;
    const replace = (): void => {
      if (waiting) this.screen?.clear();
      waiting = false;
    };
    const mine = new TileSource((at, signal) => source.tile(key, value, reduce, at, signal), {
      arrived: (at, tile) => {
        replace();
        this.show(at, tile);
        if (!tile.preview || watching) return;
        watching = true;
        void this.watch((signal) => source.base(key, value, signal), mine, over.signal).finally(() => (watching = false));
      },
      complain: (failure) => {
        replace();
        this.version += 1;
        this.trouble(failure);
      },
      dropped: (at) => this.screen?.drop(at),
      cache: { name: cacheName(map), tiles: tileCache },
    });
    this.tiles = mine;
    this.odd = [];
    this.hidden = false;
    this.done = null;
    this.version += 1;
    return () => {
      over.abort();
      mine.stop();
    };
  }

  get(place: Place): Tile | undefined {
    return this.tiles?.get(place);
  }

  want(places: readonly Place[]): void {
    this.wanted = places;
    this.tiles?.want(places);
  }

  retry(): void {
    this.tiles?.retry();
    this.want(this.wanted);
  }

  private show(at: Place, tile: Tile): void {
    this.screen?.add(at, tile);
    const odd = ODD.filter((state) => !this.odd.includes(state) && tile.states.includes(state));
    if (odd.length > 0) this.odd = [...this.odd, ...odd].sort();
    if (!this.hidden && tile.states.includes(HIDDEN)) this.hidden = true;
    this.version += 1;
  }

  /** Ask how far the base map is until it is made; then what it gives takes the previews' places. */
  private async watch(ask: (signal: AbortSignal) => Promise<{ ready: boolean; done: number }>, tiles: TileSource, signal: AbortSignal): Promise<void> {
    try {
      for (let wait = SOONEST; !signal.aborted; wait = Math.min(LATEST, wait * 1.4)) {
        await new Promise((next) => setTimeout(next, wait));
        const { ready, done } = await ask(signal);
        if (signal.aborted) return;
        this.done = ready ? null : done;
        if (!ready) continue;
        tiles.renew();
        tiles.want(this.wanted);
        return;
      }
    } catch (failure) {
      if (!signal.aborted && !aborted(failure)) this.trouble(failure);
    }
  }
}
