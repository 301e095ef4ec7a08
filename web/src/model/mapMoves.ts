// What the controls and keys of the map page do to its state.
import type { LayerDocument, MapDocument, RecordingDocument, Variant } from "../read/documents";
import { SCALES } from "../scales/colour";
import type { MapAddress } from "./mapAddress";

/** What is shown of a recording: the address with everything chosen that it left open. */
export interface Shown {
  item: number;
  layer: LayerDocument;
  head: number; // a query head's number, as recorded
}

export interface Missing {
  what: "item" | "layer" | "head";
  asked: number;
  used: number;
}

/** The item, layer and head an address means, and what it asked for in vain. null: the recording holds no layer. */
export function resolve(recording: RecordingDocument, address: MapAddress): { shown: Shown; missing: Missing[] } | null {
  const missing: Missing[] = [];
  const items = recording.items.length;
  const item = address.item < items ? address.item : 0;
  if (item !== address.item) missing.push({ what: "item", asked: address.item, used: item });
  const layers = layersOf(recording, address.kind);
  const layer = layers.find((one) => one.layer === address.layer) ?? layers[0];
  if (layer === undefined) return null;
  if (address.layer !== null && layer.layer !== address.layer) {
    missing.push({ what: "layer", asked: address.layer, used: layer.layer });
  }
  const head = layer.heads.find((one) => one === address.head) ?? layer.heads[0];
  if (head === undefined) return null;
  if (address.head !== null && head !== address.head) {
    missing.push({ what: "head", asked: address.head, used: head });
  }
  return { shown: { item, layer, head }, missing };
}

/** Layers of the kind asked for, else all: an address without a kind opens a recording of cross-attention too. */
export function layersOf(recording: RecordingDocument, kind: MapAddress["kind"]): LayerDocument[] {
  const layers = recording.layers.filter((one) => one.kind === kind);
  return layers.length > 0 ? layers : recording.layers;
}

/** The neighbour in a list, or the same at its end. */
export function neighbour(list: readonly number[], now: number, by: 1 | -1): number {
  const at = list.indexOf(now);
  return list[Math.min(list.length - 1, Math.max(0, at + by))] ?? now;
}

const ORDER: readonly Variant[] = ["recorded", "causal", "unmasked"];

/** The variants a map offers, in the order in which they are shown and the mask key goes round. */
export function variantsOf(map: Pick<MapDocument, "variants"> | null): Variant[] {
  return ORDER.filter((one) => one === "recorded" || map?.variants.includes(one));
}

export function nextVariant(variants: readonly Variant[], now: Variant): Variant {
  return variants[(variants.indexOf(now) + 1) % variants.length] ?? now;
}

/** Is the map one less another, so that its values lie on both sides of 0? */
export const isDifference = ({ derived }: Pick<MapAddress, "derived">): boolean => derived.startsWith("minus:");

export function nextColour(address: MapAddress): MapAddress["colour"] {
  return SCALES[(SCALES.indexOf(address.colour) + 1) % SCALES.length] ?? "viridis";
}

/** Is a locked row or column inside the map? */
export function inside(address: Pick<MapAddress, "query" | "key">, map: MapDocument): boolean {
  return (address.query ?? 0) < map.q_len && (address.key ?? 0) < map.kv_len;
}

/** The token index of a query: queries may be the last part of a sequence only. */
export function tokenOfQuery(query: number, map: Pick<MapDocument, "q_offset">): number {
  return query + map.q_offset;
}

export interface Spot {
  query: number | null;
  key: number | null;
}

/**
 * Where arrows lead: what is locked moves, else the crosshair. `start` is where a crosshair appears first.
 * A locked row moves up and down with ↑ ↓, while ← → move the crosshair along it; a locked column likewise.
 */
export function moved(
  lock: Spot,
  point: Spot | null,
  by: { query: number; key: number },
  size: { queries: number; keys: number },
  start: { query: number; key: number },
): { lock: Spot; point: Spot } {
  const clamp = (index: number, length: number): number => Math.min(length - 1, Math.max(0, index));
  const fresh = point === null && lock.query === null && lock.key === null;
  const from = {
    query: lock.query ?? point?.query ?? start.query,
    key: lock.key ?? point?.key ?? start.key,
  };
  const to = {
    query: clamp(from.query + (fresh ? 0 : by.query), size.queries),
    key: clamp(from.key + (fresh ? 0 : by.key), size.keys),
  };
  return {
    lock: { query: lock.query === null ? null : to.query, key: lock.key === null ? null : to.key },
    point: to,
  };
}
