// The traits of pozor.viewer.widget.MapWidget, and how they and the viewer's address say the same thing.
import { parseAddress, writeAddress, type MapAddress } from "../model/mapAddress";
import type { Kind, Reduce, Value, Variant } from "../read/documents";
import type { Language } from "../words/language.svelte";

/** What the reader chooses; the other traits are set from Python alone. */
export interface Chosen {
  item: number;
  layer: number;
  kind: Kind;
  head: number;
  variant: Variant;
  value: Value;
  reduce: Reduce;
  query: number | null;
  key: number | null;
  look: readonly [number, number, number] | null;
  rest: Record<string, string>;
}

export interface MapTraits extends Chosen {
  lang: Language | null;
  height: number;
  still: DataView | null;
  said: string;
}

export const CHOSEN = ["item", "layer", "kind", "head", "variant", "value", "reduce", "query", "key", "look", "rest"] as const;
export const NAMES = [...CHOSEN, "lang", "height", "still", "said"] as const;

// what has a trait of its own is not in `rest`; these are the names that a link has for it
const OWN = ["item", "layer", "kind", "head", "mask", "value", "reduce", "q", "k", "look"];

export function addressOf(traits: Chosen): MapAddress {
  const { item, layer, kind, head, variant, value, reduce, query, key, look } = traits;
  return {
    ...parseAddress(new URLSearchParams(traits.rest)),
    ...{ item, layer, kind, head, variant, value, reduce, query, key },
    look: look === null ? null : { cell: look[0], query: look[1], key: look[2] },
  };
}

/** The traits of an address; layer and head as they are shown where the address leaves them open. */
export function chosenOf(address: MapAddress, open: { layer: number; head: number }): Chosen {
  const { item, kind, variant, value, reduce, query, key, look } = address;
  const rest = [...writeAddress(address)].filter(([name]) => !OWN.includes(name));
  return {
    ...{ item, kind, variant, value, reduce, query, key },
    layer: address.layer ?? open.layer,
    head: address.head ?? open.head,
    look: look === null ? null : [look.cell, look.query, look.key],
    rest: Object.fromEntries(rest),
  };
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
