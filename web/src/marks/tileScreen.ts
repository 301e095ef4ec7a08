// The tiles on the screen: keeps what has arrived with the painter, draws coarse under fine, lets a new tile fade in.
import type { Tile } from "../read/tile";
import { nameOf } from "../read/tiles";
import { TILE, type Place, type Window } from "../scales/tileGrid";
import { canvasPainter, makePainter, type Paint, type Painter, type Placed } from "./painter";

const FADE = 150; // ms
const still = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-reduced-motion: reduce)");

export class TileScreen {
  private painter: Painter;
  private size = { width: 1, height: 1, ratio: 1 };
  private readonly tiles = new Map<string, { place: Place; tile: Tile; born: number }>();

  /** `port` is the element that shows the tiles; `changed` asks for a new picture. */
  constructor(
    private readonly port: HTMLElement,
    private readonly changed: () => void,
  ) {
    this.painter = this.use(
      makePainter(() => {
        this.painter.dispose();
        this.painter = this.use(canvasPainter());
      }),
    );
  }

  add(place: Place, tile: Tile): void {
    this.tiles.set(nameOf(place), { place, tile, born: performance.now() });
    this.painter.upload(nameOf(place), tile);
  }

  drop(place: Place): void {
    this.tiles.delete(nameOf(place));
    this.painter.drop(nameOf(place));
  }

  clear(): void {
    for (const { place } of [...this.tiles.values()]) this.drop(place);
  }

  resize(width: number, height: number, ratio: number): void {
    this.size = { width, height, ratio };
    this.painter.resize(width, height, ratio);
  }

  /**
   * Draw the tiles of `fine` and, until all of them are here and have faded in, coarser ones under them.
   * A coarse tile that is the coarsest of all does not fade: nothing lies under it. Returns how many were
   * drawn and whether some still fade.
   */
  draw(window: Window, fine: readonly Place[], coarsest: number, paint: Paint, now: number): { count: number; fading: boolean } {
    const zoom = fine[0]?.zoom ?? 0;
    const opacity = ({ place, born }: { place: Place; born: number }): number =>
      still?.matches === true || place.zoom === coarsest ? 1 : Math.min(1, Math.max(0.05, (now - born) / FADE));
    const settled = fine.every((place) => {
      const held = this.tiles.get(nameOf(place));
      return held !== undefined && opacity(held) >= 1;
    });
    const placed: Placed[] = [];
    for (const held of [...this.tiles.values()].sort((a, b) => b.place.zoom - a.place.zoom)) {
      if (held.place.zoom < zoom || (settled && held.place.zoom > zoom)) continue;
      const one = this.place(held.place, window, opacity(held));
      if (one !== null) placed.push(one);
    }
    this.painter.draw(placed, paint);
    return { count: placed.length, fading: placed.some((one) => one.opacity < 1) };
  }

  dispose(): void {
    this.painter.dispose();
  }

  private place(place: Place, window: Window, opacity: number): Placed | null {
    const pixel = window.cell * 2 ** place.zoom;
    const fromCorner = [place.column * TILE * pixel, place.row * TILE * pixel] as const;
    const [x, y] = [this.onPixels(window.x) + fromCorner[0], this.onPixels(window.y) + fromCorner[1]];
    const { width, height } = this.size;
    if (x > width || y > height || x + TILE * pixel < 0 || y + TILE * pixel < 0) return null;
    return { name: nameOf(place), x, y, pixel, fromCorner, opacity };
  }

  /** The corner of the matrix lies on a whole pixel of the screen: edges of cells do not fall between two. */
  private onPixels(at: number): number {
    return Math.round(at * this.size.ratio) / this.size.ratio;
  }

  private use(painter: Painter): Painter {
    painter.canvas.className = "tiles";
    this.port.prepend(painter.canvas);
    this.port.dataset["painter"] = painter.kind;
    painter.resize(this.size.width, this.size.height, this.size.ratio);
    for (const [name, { tile }] of this.tiles) painter.upload(name, tile);
    this.changed();
    return painter;
  }
}
