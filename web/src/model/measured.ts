// A measured range: taken from the coarsest picture of the map, else from what was in view when it was first complete.
import type { Tile } from "../read/tile";
import type { Place } from "../scales/tileGrid";
import { endOf, measured, type Wish } from "./colourRange";
import { whole, type Part } from "./spread";

export interface Measured {
  end: number | null; // null: no value was there
  zoom: number; // of the tiles it was taken from
  whole: boolean; // the whole map, not what was in view
}

interface Asked {
  map: string; // its name: another map is measured anew
  wish: Wish & { reduce: string };
  signed: boolean;
  /** The single tile that shows the whole map, where one is exact and here. */
  coarsest: { place: Place; tile: Tile } | null;
  wholeIsExact: boolean; // such a tile may still come
  /** What is in view, once all of it is here. */
  view: () => readonly Part[] | null;
}

/** Remembers what it measured, so that neither panning nor a new scale moves a colour or counts anew. */
export class Measure {
  private of = "";
  private tile: Tile | null = null;
  private kept: Measured | null = null;

  take({ map, wish, signed, coarsest, wholeIsExact, view }: Asked): Measured | null {
    if (!measured(wish)) return null;
    const of = [map, wish.value, wish.reduce, wish.clip, wish.leaveFirst, signed].join("|");
    const tile = wholeIsExact ? (coarsest?.tile ?? null) : null;
    if (of === this.of && this.kept !== null && (!wholeIsExact || tile === this.tile || tile === null)) return this.kept;
    const parts = wholeIsExact ? (coarsest === null ? null : [whole(coarsest.place, coarsest.tile)]) : view();
    if (parts === null) return of === this.of ? this.kept : null;
    this.of = of;
    this.tile = tile;
    this.kept = { end: endOf(parts, wish, signed), zoom: parts[0]?.place.zoom ?? 0, whole: wholeIsExact };
    return this.kept;
  }
}
