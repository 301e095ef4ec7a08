// The signs of what is no finite number, drawn in a cell: NaN a cross, +∞ a triangle up, −∞ a triangle down.
// Twice, for the shader and for the canvas: the same lines in both languages.
import { MINUS_INFINITY, NOT_A_NUMBER, PLUS_INFINITY } from "../read/tile";

export const GLYPHS_FROM = 6; // CSS pixels a cell: in a smaller one no sign can be told from another
export const NUMBERS_FROM = 50; // from here on "NaN", "+∞", "−∞" stand in the cell as text

/** Is the point (x, y) of a cell, each 0…1, y downwards, part of its glyph? `pixel`: the side of the cell. */
export function inGlyph(state: number, x: number, y: number, pixel: number): boolean {
  if (pixel < GLYPHS_FROM || pixel >= NUMBERS_FROM) return false;
  if (Math.max(Math.abs(x - 0.5), Math.abs(y - 0.5)) > 0.34) return false;
  if (state === NOT_A_NUMBER) return Math.min(Math.abs(x - y), Math.abs(x + y - 1)) < Math.max(0.11, 0.7 / pixel);
  const down = state === MINUS_INFINITY ? 1 - y : y;
  return Math.abs(x - 0.5) < (down - 0.16) * 0.5;
}

export const GLYPHS = `
bool inGlyph(uint state, vec2 f, float pixel) {
  if (pixel < ${GLYPHS_FROM}.0 || pixel >= ${NUMBERS_FROM}.0) return false;
  if (max(abs(f.x - 0.5), abs(f.y - 0.5)) > 0.34) return false;
  if (state == ${NOT_A_NUMBER}u) return min(abs(f.x - f.y), abs(f.x + f.y - 1.0)) < max(0.11, 0.7 / pixel);
  float down = state == ${MINUS_INFINITY}u ? 1.0 - f.y : f.y;
  return abs(f.x - 0.5) < (down - 0.16) * 0.5;
}`;

/** The same signs as text, for readouts and cells with numbers. null: a finite number. */
export function oddText(state: number): string | null {
  if (state === NOT_A_NUMBER) return "NaN";
  if (state === PLUS_INFINITY) return "+∞";
  return state === MINUS_INFINITY ? "−∞" : null;
}
