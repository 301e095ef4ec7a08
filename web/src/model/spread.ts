// What the values in some tiles come to: the least, the largest, a percentile. From these a range of colours is found.
import { VALUE, type Tile } from "../read/tile";
import { TILE, type Place, type Window } from "../scales/tileGrid";

/** A part of a tile, in its own pixels: from `top` (with it) to `bottom` (without). */
export interface Part {
  place: Place;
  tile: Tile;
  top: number;
  bottom: number;
  left: number;
  right: number;
}

export const whole = (place: Place, tile: Tile): Part => ({ place, tile, top: 0, left: 0, bottom: TILE, right: TILE });

/** All values of the parts, ordered; of a difference their sizes. `leaveFirst`: without the pixels that hold key 0. */
export function ordered(parts: readonly Part[], { leaveFirst = false, signed = false } = {}): Float32Array {
  const found = new Float32Array(parts.reduce((sum, { top, bottom, left, right }) => sum + Math.max(0, bottom - top) * Math.max(0, right - left), 0));
  let count = 0;
  for (const { place, tile, top, bottom, left, right } of parts) {
    const from = leaveFirst && place.column === 0 ? Math.max(left, 1) : left;
    for (let row = top; row < bottom; row++) {
      for (let i = row * TILE + from; i < row * TILE + right; i++) {
        if (tile.states[i] !== VALUE) continue;
        const value = tile.values[i] ?? 0;
        found[count++] = signed ? Math.abs(value) : value;
      }
    }
  }
  return found.subarray(0, count).sort();
}

/** The smallest of the values that at least `percent` of them do not exceed; null if there are none. 100: the largest. */
export function percentile(values: Float32Array, percent: number): number | null {
  if (values.length === 0) return null;
  // 99.9 % of 1,000 values are 999 of them, whatever the last bit of 0.999 says
  const rank = Math.ceil((values.length * percent) / 100 - 1e-9);
  return values[Math.min(values.length, Math.max(1, rank)) - 1] ?? null;
}

/** The least of the values that is more than nothing; null if there is none. */
export function leastPositive(values: Float32Array): number | null {
  return values.find((value) => value > 0) ?? null;
}

/** What the window shows of the tiles that are here; null: some are not. */
export function inView(window: Window, places: readonly Place[], get: (place: Place) => Tile | undefined): Part[] | null {
  const parts: Part[] = [];
  for (const place of places) {
    const tile = get(place);
    if (tile === undefined) return null;
    const pixel = window.cell * 2 ** place.zoom;
    const span = (corner: number, extent: number): [number, number] => [
      Math.min(TILE, Math.max(0, Math.floor(-corner / pixel))),
      Math.min(TILE, Math.max(0, Math.ceil((extent - corner) / pixel))),
    ];
    const [top, bottom] = span(window.y + place.row * TILE * pixel, window.height);
    const [left, right] = span(window.x + place.column * TILE * pixel, window.width);
    parts.push({ place, tile, top, bottom, left, right });
  }
  return parts;
}
