// The page's colours for canvases: read from theme.css, once for each appearance.
import type { Rgb } from "../marks/painter";
import { rgb } from "d3-color";
import type { Theme } from "../model/theme.svelte";

const read = new Map<string, string>();
const frames = new Set<Element>();

/** The tokens stand in this element, where the page is not ours; until the returned function is called. */
export function standIn(frame: Element): () => void {
  frames.add(frame);
  return () => frames.delete(frame);
}

/** A token of theme.css, for example tokenOf("dark", "ink"). `now` must be the appearance in force. */
export function tokenOf(now: Theme, token: string): string {
  const name = `${now} ${token}`;
  const known = read.get(name);
  if (known !== undefined) return known;
  const frame = [...frames].find((one) => one.isConnected) ?? document.documentElement;
  const found = getComputedStyle(frame).getPropertyValue(`--${token}`).trim();
  if (found !== "") read.set(name, found);
  return found;
}

export function rgbOf(color: string): Rgb {
  const { r, g, b } = rgb(color);
  return [r, g, b];
}
