// The payload of a tile: 65,536 float32 little-endian, then 65,536 states.
import { TILE } from "../scales/tileGrid";

export const VALUE = 0;
export const HIDDEN = 1; // nothing visible
export const OUTSIDE = 2; // outside the matrix
export const NOT_A_NUMBER = 3; // visible and NaN; this state is the page's own

export interface Tile {
  values: Float32Array; // 0 where the state is not VALUE
  states: Uint8Array;
}

const CELLS = TILE * TILE;
export const TILE_BYTES = CELLS * 5;

export function decode(buffer: ArrayBuffer): Tile {
  if (buffer.byteLength !== TILE_BYTES) {
    throw new RangeError(`a tile has ${TILE_BYTES} bytes; got ${buffer.byteLength}`);
  }
  const view = new DataView(buffer);
  const values = new Float32Array(CELLS);
  const states = new Uint8Array(buffer.slice(CELLS * 4));
  for (let i = 0; i < CELLS; i++) {
    if (states[i] !== VALUE) continue;
    const value = view.getFloat32(i * 4, true);
    if (Number.isNaN(value)) states[i] = NOT_A_NUMBER;
    else values[i] = value;
  }
  return { values, states };
}

/** The largest visible value of a tile, NaN left out; 0 if there is none. */
export function largest({ values, states }: Tile): number {
  let top = 0;
  for (let i = 0; i < CELLS; i++) {
    if (states[i] === VALUE && (values[i] ?? 0) > top) top = values[i] ?? 0;
  }
  return top;
}
