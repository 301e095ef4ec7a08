// Tiles of all maps that a page has shown lately, by their bytes: back and forth between two heads asks for nothing.
import { TILE_BYTES, type Tile } from "./tile";

export class TileCache {
  private readonly kept = new Map<string, Tile>(); // in order of last use
  private readonly coming = new Map<string, Promise<Tile>>();

  constructor(private readonly most = 64 << 20) {}

  get bytes(): number {
    return this.kept.size * TILE_BYTES;
  }

  get(name: string): Tile | undefined {
    const tile = this.kept.get(name);
    if (tile === undefined) return undefined;
    this.kept.delete(name);
    this.kept.set(name, tile);
    return tile;
  }

  put(name: string, tile: Tile): void {
    if (tile.preview) return; // a better one is on its way
    this.kept.delete(name);
    this.kept.set(name, tile);
    for (const oldest of this.kept.keys()) {
      if (this.bytes <= this.most) return;
      this.kept.delete(oldest);
    }
  }

  /** A tile that somebody asked for before its map was known, so that nobody asks twice. */
  expect(name: string, tile: Promise<Tile>): void {
    this.coming.set(name, tile);
    const done = (): void => void (this.coming.get(name) === tile && this.coming.delete(name));
    tile.then((here) => {
      this.put(name, here);
      done();
    }, done);
  }

  expected(name: string): Promise<Tile> | undefined {
    return this.coming.get(name);
  }

  /** Forget the tiles whose names begin like this. */
  forget(beginning: string): void {
    for (const name of [...this.kept.keys()]) if (name.startsWith(beginning)) this.kept.delete(name);
  }
}

/** One for all viewers of a page. */
export const tileCache = new TileCache();
