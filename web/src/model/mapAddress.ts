// The state of a map page and its form in the address. Defaults are left out, so that a link stays short.
import type { Kind, Reduce, Value, Variant } from "../read/documents";
import { SCALES, type ScaleName } from "../scales/colour";
import { TRANSFERS, type Transfer } from "../scales/transfer";
import { CLIPS } from "./colourRange";
import { ORDERS, SHOWS, type Order, type Shows } from "./headNumbers";

/** px per cell and the cell in the middle of the window; null = the whole map. */
export interface Look {
  cell: number;
  query: number;
  key: number;
}

export interface MapAddress {
  item: number;
  layer: number | null; // null: the first that was recorded
  kind: Kind;
  head: number | null;
  variant: Variant;
  derived: string; // a combination of heads, "" for a head alone
  value: Value;
  reduce: Reduce;
  transfer: Transfer;
  colour: ScaleName;
  root: number; // of the power scale: 3 is the cube root
  range: "unit" | "max";
  clip: number | null; // the range holds so many percent of the pixels
  low: number | null; // the ends of the range, where somebody has set them
  high: number | null;
  leaveFirst: boolean; // the first token has no say in a measured range
  query: number | null; // the locked row
  key: number | null; // the locked column; both: a cell
  hidden: readonly number[]; // keys left out of the locked row, in order
  find: string; // what is sought in the text
  wholeWords: boolean; // pieces of a word stand together
  look: Look | null;
  panel: "text" | "map" | "inspector"; // on a narrow screen
  heads: Shows | null; // all heads are folded out, with this number under each
  order: Order; // of the heads
}

export const DEFAULTS: MapAddress = {
  item: 0,
  layer: null,
  kind: "self",
  head: null,
  variant: "recorded",
  derived: "",
  value: "prob",
  reduce: "max",
  transfer: "log", // a head spreads over powers of ten: linear, most maps are one dark square
  colour: "viridis",
  root: 2,
  range: "unit",
  clip: null,
  low: null,
  high: null,
  leaveFirst: false,
  query: null,
  key: null,
  hidden: [],
  find: "",
  wholeWords: false,
  look: null,
  panel: "map",
  heads: null,
  order: "layer",
};

export function parseAddress(query: URLSearchParams): MapAddress {
  const one = <Choice extends string>(name: string, choices: readonly Choice[], usual: Choice): Choice =>
    choices.find((choice) => choice === query.get(name)) ?? usual;
  const whole = (name: string): number | null => {
    const text = query.get(name);
    return text !== null && /^\d{1,9}$/.test(text) ? Number(text) : null;
  };
  return {
    item: whole("item") ?? 0,
    layer: whole("layer"),
    kind: one("kind", ["self", "cross"], "self"),
    head: whole("head"),
    variant: one("mask", ["recorded", "causal", "unmasked"], "recorded"),
    derived: query.get("derived") ?? "",
    value: one("value", ["prob", "value_norm"], "prob"),
    reduce: one("reduce", ["max", "mean", "share"], "max"),
    transfer: one("scale", TRANSFERS, "log"),
    colour: one("colour", SCALES, "viridis"),
    root: Math.min(9, Math.max(2, whole("root") ?? 2)),
    range: one("range", ["unit", "max"], "unit"),
    clip: CLIPS.find((one) => String(one) === query.get("clip")) ?? null,
    low: positive(query.get("low")),
    high: positive(query.get("high")),
    leaveFirst: query.get("first") === "out",
    query: whole("q"),
    key: whole("k"),
    hidden: numbers(query.get("hide")),
    find: (query.get("find") ?? "").slice(0, LONGEST_SOUGHT),
    wholeWords: query.get("words") === "whole",
    look: parseLook(query.get("look")),
    panel: one("panel", ["text", "map", "inspector"], "map"),
    heads: SHOWS.find((shows) => shows === query.get("heads")) ?? null,
    order: one("order", ORDERS, "layer"),
  };
}

export function writeAddress(state: MapAddress): URLSearchParams {
  const query = new URLSearchParams();
  const put = (name: string, value: string | number | null, usual: string | number | null): void => {
    if (value !== null && value !== usual) query.set(name, String(value));
  };
  put("item", state.item, DEFAULTS.item);
  put("layer", state.layer, null);
  put("kind", state.kind, DEFAULTS.kind);
  put("head", state.head, null);
  put("mask", state.variant, DEFAULTS.variant);
  put("derived", state.derived, DEFAULTS.derived);
  put("value", state.value, DEFAULTS.value);
  put("reduce", state.reduce, DEFAULTS.reduce);
  put("scale", state.transfer, DEFAULTS.transfer);
  put("colour", state.colour, DEFAULTS.colour);
  put("root", state.transfer === "power" ? state.root : null, DEFAULTS.root);
  put("range", state.range, DEFAULTS.range);
  put("clip", state.clip, null);
  put("low", state.low, null);
  put("high", state.high, null);
  put("first", state.leaveFirst ? "out" : null, null);
  put("q", state.query, null);
  put("k", state.key, null);
  put("hide", state.hidden.length === 0 ? null : state.hidden.join("_"), null);
  put("find", state.find, DEFAULTS.find);
  put("words", state.wholeWords ? "whole" : null, null);
  put("look", state.look === null ? null : writeLook(state.look), null);
  put("panel", state.panel, DEFAULTS.panel);
  put("heads", state.heads, null);
  put("order", state.order, DEFAULTS.order);
  return query;
}

const LONGEST_SOUGHT = 200;

function numbers(text: string | null): number[] {
  const found = (text ?? "").split("_").filter((one) => /^\d{1,9}$/.test(one));
  return [...new Set(found.map(Number))].sort((a, b) => a - b);
}

function positive(text: string | null): number | null {
  const value = Number(text ?? "");
  return Number.isFinite(value) && value > 0 ? value : null;
}

function writeLook({ cell, query, key }: Look): string {
  return [cell.toPrecision(4), query.toFixed(2), key.toFixed(2)].map(Number).join("_");
}

function parseLook(text: string | null): Look | null {
  const numbers = (text ?? "").split("_").map(Number);
  const [cell, query, key] = numbers;
  if (numbers.length !== 3 || cell === undefined || query === undefined || key === undefined) return null;
  return numbers.every(Number.isFinite) && cell > 0 ? { cell, query, key } : null;
}
