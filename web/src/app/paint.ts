// The page's colours for canvases: read from theme.css, once for each appearance.
import type { Rgb } from "../marks/painter";
import { rgb } from "d3-color";
import type { Theme } from "../model/theme.svelte";

const read = new Map<string, string>();

/** A token of theme.css, for example tokenOf("dark", "ink"). `now` must be the appearance in force. */
export function tokenOf(now: Theme, token: string): string {
  const name = `${now} ${token}`;
  const known = read.get(name);
  if (known !== undefined) return known;
  const found = getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
  read.set(name, found);
  return found;
}

export function rgbOf(color: string): Rgb {
  const { r, g, b } = rgb(color);
  return [r, g, b];
}
