// The payload of a tile: 65,536 float32 little-endian, then 65,536 states.
import { TILE } from "../scales/tileGrid";

export const VALUE = 0;
export const HIDDEN = 1; // nothing visible
export const OUTSIDE = 2; // outside the matrix
// visible, but no finite number; these states are the page's own
export const NOT_A_NUMBER = 3;
export const PLUS_INFINITY = 4;
export const MINUS_INFINITY = 5;
export const ODD: readonly number[] = [NOT_A_NUMBER, PLUS_INFINITY, MINUS_INFINITY];

export interface Tile {
  values: Float32Array; // 0 where the state is not VALUE
  states: Uint8Array;
  preview: boolean; // made of every 16th row while the base map is being made
}

const CELLS = TILE * TILE;
export const TILE_BYTES = CELLS * 5;

export function decode(buffer: ArrayBuffer, preview = false): Tile {
  if (buffer.byteLength !== TILE_BYTES) {
    throw new RangeError(`a tile has ${TILE_BYTES} bytes; got ${buffer.byteLength}`);
  }
  const view = new DataView(buffer);
  const values = new Float32Array(CELLS);
  const states = new Uint8Array(buffer.slice(CELLS * 4));
  for (let i = 0; i < CELLS; i++) {
    if (states[i] !== VALUE) continue;
    const value = view.getFloat32(i * 4, true);
    if (Number.isFinite(value)) values[i] = value;
    else states[i] = Number.isNaN(value) ? NOT_A_NUMBER : value > 0 ? PLUS_INFINITY : MINUS_INFINITY;
  }
  return { values, states, preview };
}
