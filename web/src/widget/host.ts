// The page that a widget stands in: is it light or dark? Notebooks say so each in their own way (classes, attributes,
// colour schemes), and all of them paint a background: the colour behind the widget is what counts.
import { theme, type Theme } from "../model/theme.svelte";

/** Follow the page's appearance until the returned function is called; `changed` hears of it before anything is drawn. */
export function followHost(el: HTMLElement, changed: (now: Theme) => void = () => undefined): () => void {
  const look = (): void => {
    const now = appearance(el);
    changed(now);
    theme.now = now;
  };
  const settled = (): void => {
    look();
    setTimeout(look, 400); // a page may fade from one to the other
  };
  const watcher = new MutationObserver(settled);
  for (const node of [document.documentElement, document.body]) {
    watcher.observe(node, { attributes: true, attributeFilter: ["class", "style", "data-theme", "data-jp-theme-light"] });
  }
  const system = matchMedia("(prefers-color-scheme: dark)");
  system.addEventListener("change", settled);
  settled();
  return () => {
    watcher.disconnect();
    system.removeEventListener("change", settled);
  };
}

function appearance(el: Element): Theme {
  for (let node: Element | null = el; node !== null; node = above(node)) {
    const found = ofColour(pixel(getComputedStyle(node).backgroundColor));
    if (found !== null) return found;
  }
  const scheme = getComputedStyle(document.documentElement).colorScheme;
  const dark = scheme.includes("dark") && (!scheme.includes("light") || matchMedia("(prefers-color-scheme: dark)").matches);
  return dark ? "dark" : "light";
}

/** The element around this one, out of a shadow tree too. */
function above(node: Element): Element | null {
  if (node.parentElement !== null) return node.parentElement;
  const root = node.getRootNode();
  return root instanceof ShadowRoot ? root.host : null;
}

/** Red, green, blue, opacity, each 0…255, of any CSS colour. */
function pixel(colour: string): readonly number[] {
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  if (pen === null) return [0, 0, 0, 0];
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
}

/** null: what lies behind shines through. */
export function ofColour([red = 0, green = 0, blue = 0, opacity = 0]: readonly number[]): Theme | null {
  if (opacity < 128) return null;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue < 128 ? "dark" : "light";
}
