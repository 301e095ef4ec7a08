// Colour scales: a number from 0 (least) to 1 (most) becomes a colour. All are readable without hue, the two-sided one
// without telling red from green: its sides are blue and orange, and its middle, 0, is the page's own paper.
import { interpolateLab, piecewise } from "d3-interpolate";
import { interpolateCividis, interpolateMagma, interpolateViridis } from "d3-scale-chromatic";
import { rgb } from "d3-color";

export const DIVERGING = "balance"; // for values on both sides of zero
export type ScaleName = "viridis" | "cividis" | "magma" | "ink" | typeof DIVERGING;
export const SCALES: readonly ScaleName[] = ["viridis", "cividis", "magma", "ink"]; // those one can choose
export type Theme = "light" | "dark";

const INK: Record<Theme, readonly [string, string]> = {
  light: ["#fbfaf7", "#1d1f23"],
  dark: ["#14161a", "#f4f2ee"],
};
const BALANCE: Record<Theme, readonly string[]> = {
  light: ["#0a2f6b", "#3f83c6", "#fbfaf7", "#dd7a1c", "#6e3003"],
  dark: ["#d3e6ff", "#4f93e0", "#14161a", "#dd7a1c", "#ffe0b8"],
};

/** The colour of t in 0…1; what lies outside is clamped. */
export function colour(name: ScaleName, theme: Theme): (t: number) => string {
  const raw = interpolator(name, theme);
  return (t) => raw(Math.min(1, Math.max(0, t)));
}

/** 256 RGBA entries, for a texture or an image. */
export function table(name: ScaleName, theme: Theme): Uint8Array {
  const raw = interpolator(name, theme);
  const bytes = new Uint8Array(256 * 4);
  for (let i = 0; i < 256; i++) {
    const zero = name === DIVERGING && (i === 127 || i === 128); // 255 is odd: the middle would be a little to one side
    const { r, g, b } = rgb(raw(zero ? 0.5 : i / 255));
    bytes.set([Math.round(r), Math.round(g), Math.round(b), 255], i * 4);
  }
  return bytes;
}

/** Is the end that means "more" the darker one? The legend says so in words. Of a two-sided scale: are both ends? */
export function moreIsDarker(name: ScaleName, theme: Theme): boolean {
  return (name === "ink" || name === DIVERGING) && theme === "light";
}

/** The scale that a map is drawn with: the one chosen, but for differences the two-sided one and none else. */
export function scaleOf(chosen: ScaleName, signed: boolean): ScaleName {
  if (signed) return DIVERGING;
  return chosen === DIVERGING ? "viridis" : chosen;
}

/** Black or white, whichever can be read on the colour (WCAG contrast). */
export function readable(background: string): "#ffffff" | "#000000" {
  const { r, g, b } = rgb(background);
  const linear = [r, g, b].map((c) => {
    const s = c / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  });
  const luminance = 0.2126 * (linear[0] ?? 0) + 0.7152 * (linear[1] ?? 0) + 0.0722 * (linear[2] ?? 0);
  return 1.05 / (luminance + 0.05) >= (luminance + 0.05) / 0.05 ? "#ffffff" : "#000000"; // ink would leave mid greys below 4.5
}

function interpolator(name: ScaleName, theme: Theme): (t: number) => string {
  if (name === "viridis") return interpolateViridis;
  if (name === "cividis") return interpolateCividis;
  if (name === "magma") return interpolateMagma;
  if (name === DIVERGING) return piecewise(interpolateLab, [...BALANCE[theme]]);
  return interpolateLab(...INK[theme]);
}
