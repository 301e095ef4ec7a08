// A head as a small picture: the values and states of a thumbnail become pixels, in the colours of the map.
import type { Paint, Rgb } from "../marks/painter";
import { HIDDEN, OUTSIDE, VALUE } from "../read/tile";
import { place } from "../scales/transfer";

export interface Picture {
  width: number;
  height: number;
  pixels: Uint8ClampedArray<ArrayBuffer>; // RGBA
}

/** How much of side × side pixels lies inside the matrix. */
export function extent(states: Uint8Array, side: number): { width: number; height: number } {
  let [width, height] = [0, 0];
  while (width < side && states[width] !== OUTSIDE) width += 1;
  while (height < side && states[height * side] !== OUTSIDE) height += 1;
  return { width, height };
}

/** Without what lies outside the matrix. A value that is not finite has the colour that no scale has. */
export function picture(values: Float32Array, states: Uint8Array, side: number, paint: Paint): Picture {
  const { width, height } = extent(states, side);
  const pixels = new Uint8ClampedArray(width * height * 4);
  const put = (at: number, [r, g, b]: Rgb): void => {
    pixels[at] = r;
    pixels[at + 1] = g;
    pixels[at + 2] = b;
    pixels[at + 3] = 255;
  };
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const [from, at] = [row * side + column, (row * width + column) * 4];
      const [state, value] = [states[from], values[from] ?? 0];
      if (state === HIDDEN) put(at, paint.mask);
      else if (state !== VALUE || !Number.isFinite(value)) put(at, paint.odd);
      else {
        const entry = Math.floor(place(value, paint.range) * 255 + 0.5) * 4;
        put(at, [paint.table[entry] ?? 0, paint.table[entry + 1] ?? 0, paint.table[entry + 2] ?? 0]);
      }
    }
  }
  return { width, height, pixels };
}
