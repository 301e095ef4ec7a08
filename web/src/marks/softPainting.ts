// What the shader does, in plain arithmetic: tiles become pixels without a canvas, so that the picture is the same
// without WebGL, and can be looked at by tests. Sizes in CSS pixels.
import { HIDDEN, OUTSIDE, VALUE, type Tile } from "../read/tile";
import { TILE } from "../scales/tileGrid";
import { place } from "../scales/transfer";
import { inGlyph } from "./glyphs";
import type { Paint, Placed, Rgb } from "./painter";

export const HATCH = 7; // from one line of the hatching to the next; half a pixel aside, so that no rounding decides
export const HAIR_FROM = 12; // cells at least so wide are parted by a hair
export const HAIR = 0.35; // how much of it is paper

/** The picture: `width` × `height` device pixels, each 0xAABBGGRR, not premultiplied; `ratio` of them a CSS pixel. */
export interface Picture {
  pixels: Uint32Array;
  width: number;
  height: number;
  ratio: number;
}

const word = ([r, g, b]: Rgb): number => (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;

/** The colours of a tile's 65,536 values; those of hidden and odd ones do not matter. */
export function colours({ values, states }: Tile, paint: Paint): Uint32Array {
  const { table, range } = paint;
  const words = Uint32Array.from({ length: 256 }, (_, i) => word([table[i * 4] ?? 0, table[i * 4 + 1] ?? 0, table[i * 4 + 2] ?? 0]));
  const found = new Uint32Array(TILE * TILE);
  for (let i = 0; i < found.length; i++) {
    if (states[i] === VALUE) found[i] = words[Math.floor(place(values[i] ?? 0, range) * 255 + 0.5)] ?? 0;
  }
  return found;
}

/** Along one axis: for each device pixel of the picture that the tile covers its cell, and where in the cell it lies. */
function along(start: number, pixel: number, extent: number, ratio: number): { first: number; cell: Int16Array; at: Float64Array } {
  const side = pixel * TILE * ratio;
  const first = Math.max(0, Math.ceil(start * ratio - 0.5));
  const stop = Math.min(extent, Math.ceil(start * ratio + side - 0.5));
  const length = Math.max(0, stop - first);
  const cell = new Int16Array(length);
  const at = new Float64Array(length); // CSS pixels from the tile's corner
  for (let i = 0; i < length; i++) {
    at[i] = (first + i + 0.5) / ratio - start;
    cell[i] = Math.min(TILE - 1, Math.floor((at[i] ?? 0) / pixel));
  }
  return { first, cell, at };
}

/** Lay one tile over the picture. `held`: its `colours`. */
export function lay(picture: Picture, placed: Placed, tile: Tile, held: Uint32Array, paint: Paint): void {
  const { pixels, width, height, ratio } = picture;
  const { pixel, opacity, fromCorner } = placed;
  const across = along(placed.x, pixel, width, ratio);
  const down = along(placed.y, pixel, height, ratio);
  const [mask, line, odd, onOdd, paper] = [paint.mask, paint.maskLine, paint.odd, paint.onOdd, paint.paper].map(word) as [number, number, number, number, number];
  const hair = pixel >= HAIR_FROM ? 1 / ratio : 0;
  for (let j = 0; j < down.cell.length; j++) {
    const row = down.cell[j] ?? 0;
    const y = down.at[j] ?? 0;
    const inY = y - row * pixel;
    const to = (down.first + j) * width + across.first;
    for (let i = 0; i < across.cell.length; i++) {
      const column = across.cell[i] ?? 0;
      const state = tile.states[row * TILE + column];
      if (state === OUTSIDE || state === undefined) continue;
      const x = across.at[i] ?? 0;
      const inX = x - column * pixel;
      let shade: number;
      if (state === VALUE) shade = held[row * TILE + column] ?? 0;
      else if (state === HIDDEN) shade = ((fromCorner[0] % HATCH) + (fromCorner[1] % HATCH) + x + y + 0.5) % HATCH < 1 ? line : mask;
      else shade = inGlyph(state, inX / pixel, inY / pixel, pixel) ? onOdd : odd;
      if (inX < hair || inY < hair) shade = mix(shade, paper, HAIR);
      pixels[to + i] = opacity >= 1 ? shade : over(pixels[to + i] ?? 0, shade, opacity);
    }
  }
}

/** `part` of b, the rest a; both without transparency. */
function mix(a: number, b: number, part: number): number {
  let found = 0xff000000;
  for (const shift of [0, 8, 16]) found |= Math.round(((a >>> shift) & 255) * (1 - part) + ((b >>> shift) & 255) * part) << shift;
  return found >>> 0;
}

/** A colour laid with `opacity` over what is there, which may be nothing yet. */
function over(there: number, shade: number, opacity: number): number {
  const below = (there >>> 24) / 255;
  const whole = opacity + below * (1 - opacity);
  const mixed = mix(there, shade, opacity / whole);
  return ((mixed & 0xffffff) | (Math.round(whole * 255) << 24)) >>> 0;
}
