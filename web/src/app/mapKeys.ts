// Keys of the map page: which key means what. Arrows and Enter count only where the map has the focus or nothing has.

export type Command =
  | { do: "move" | "pan"; query: number; key: number }
  | { do: "lock"; what: "cell" | "row" | "column" }
  | { do: "zoom"; factor: number }
  | { do: "layer" | "head"; by: 1 | -1 }
  | { do: "hit"; by: 1 | -1 }
  | { do: "find" | "token" | "words" | "leave" }
  | { do: "unlock" | "whole" | "log" | "colours" | "mask" | "heads" | "help" };

const ARROWS: Record<string, readonly [query: number, key: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

const LETTERS: Record<string, Command> = {
  r: { do: "lock", what: "row" },
  k: { do: "lock", what: "column" },
  "+": { do: "zoom", factor: 1.5 },
  "=": { do: "zoom", factor: 1.5 },
  "-": { do: "zoom", factor: 1 / 1.5 },
  "0": { do: "whole" },
  "[": { do: "layer", by: -1 },
  "]": { do: "layer", by: 1 },
  ",": { do: "head", by: -1 },
  ".": { do: "head", by: 1 },
  l: { do: "log" },
  c: { do: "colours" },
  m: { do: "mask" },
  "/": { do: "find" },
  f: { do: "find" },
  n: { do: "hit", by: 1 },
  p: { do: "hit", by: -1 },
  g: { do: "token" },
  w: { do: "words" },
  x: { do: "leave" },
  h: { do: "heads" },
  "?": { do: "help" },
  Escape: { do: "unlock" },
};

interface Pressed {
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

/** `place`: the map, something that itself takes typing or arrows, another control, or nothing in particular. */
export function command(event: Pressed, place: "map" | "typing" | "control" | "page"): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  if (place === "typing") return event.key === "Escape" ? { do: "unlock" } : null;
  const arrow = ARROWS[event.key];
  if (arrow !== undefined) {
    if (place === "control") return null;
    return { do: event.shiftKey ? "pan" : "move", query: arrow[0], key: arrow[1] };
  }
  if (event.key === "Enter") return place === "map" || place === "page" ? { do: "lock", what: "cell" } : null;
  return LETTERS[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null;
}

export function placeOf(target: EventTarget | null): "map" | "typing" | "control" | "page" {
  if (!(target instanceof Element)) return "page";
  if (target.closest("[role=application]") !== null) return "map";
  if (target.closest("input, textarea, select, [contenteditable]") !== null) return "typing";
  return target.closest("button, a") === null ? "page" : "control";
}
