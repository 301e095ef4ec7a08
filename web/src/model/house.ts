// What the viewer's house is like, given to its parts as a context: the app, a notebook's cell, a single file.
import { createContext } from "svelte";

export interface House {
  /** The app has a home page and links to it; elsewhere there is nothing to go back to. */
  home: boolean;
  /** Keys work wherever the focus is; in a page of others only inside the viewer. */
  keysEverywhere: boolean;
  /** The wheel zooms at once; in a page that scrolls only with Ctrl, or once the map has been clicked. */
  wheelAtOnce: boolean;
}

export const APP: House = { home: true, keysEverywhere: true, wheelAtOnce: true };
const [get, set] = createContext<House>();

export const settle = set;

export function house(): House {
  try {
    return get();
  } catch {
    return APP; // nobody settled anything
  }
}
