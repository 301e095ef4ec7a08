// Where a viewer's numbers come from: a server, a notebook's Python, or the page's own engine. One interface.
import type { Place } from "../scales/tileGrid";
import type {
  BaseDocument,
  CellDocument,
  ColumnDocument,
  HeadsDocument,
  Kind,
  MapDocument,
  RecordingDocument,
  Reduce,
  RowDocument,
  Value,
  Variant,
  WhichDocument,
} from "./documents";
import type { Item } from "./item";
import type { Tile } from "./tile";

/** Which map: the part that every question about it shares. */
export interface MapKey {
  item: number;
  layer: number;
  kind: Kind;
  head: number;
  variant: Variant;
  derived: string; // "" or a combination, as docs/contracts.md writes it
}

/** entropy of each query in nats; what each key receives on average, NaN where nobody may look. */
export interface Tracks {
  entropy: Float32Array;
  received: Float32Array;
}

/** Small pictures of a layer's heads: side × side pixels each, as the states of tiles say. */
export interface Thumbs {
  side: number;
  values: Float32Array[];
  states: Uint8Array[];
  preview: boolean; // some of them are made of every 16th row while a base map is being made
}

export interface WhichPlace {
  query: number | null;
  key: number | null;
}

export type Form = "csv" | "npz" | "svg" | "pdf" | "png";

/** A file to take away: cells of a block, or a picture of them. Parts are [from, to). */
export interface Wanted {
  form: Form;
  queries: readonly [number, number];
  keys: readonly [number, number];
  value: Value;
  reduce: Reduce;
  scale: "linear" | "log";
  colour: "viridis" | "cividis" | "magma" | "paper";
  lang: string;
}

export interface Source {
  /** Unique among the sources of a page. */
  readonly name: string;
  /** The whole of a layer: what heads, thumbs and which can be asked about. */
  recording(signal?: AbortSignal): Promise<RecordingDocument>;
  item(item: number, signal?: AbortSignal): Promise<Item>;
  map(key: MapKey, signal?: AbortSignal): Promise<MapDocument>;
  base(key: MapKey, value: Value, signal?: AbortSignal): Promise<BaseDocument>;
  tracks(key: MapKey, signal?: AbortSignal): Promise<Tracks>;
  tile(key: MapKey, value: Value, reduce: Reduce, place: Place, signal?: AbortSignal): Promise<Tile>;
  /** With value "value_norm" a row and a column have `weighted` too. */
  row(key: MapKey, query: number, hidden: readonly number[], signal?: AbortSignal, value?: Value): Promise<RowDocument>;
  column(key: MapKey, column: number, signal?: AbortSignal, value?: Value): Promise<ColumnDocument>;
  cell(key: MapKey, query: number, column: number, lang: string, digits: number, signal?: AbortSignal): Promise<CellDocument>;
  heads(item: number, signal?: AbortSignal): Promise<HeadsDocument>;
  thumbs(key: Omit<MapKey, "head" | "derived">, value: Value, reduce: Reduce, signal?: AbortSignal): Promise<Thumbs>;
  which(item: number, variant: Variant, place: WhichPlace, signal?: AbortSignal): Promise<WhichDocument>;
  /** A file of the part that is seen; absent where nobody can make one. */
  download?(key: MapKey, wanted: Wanted, signal?: AbortSignal): Promise<ArrayBuffer>;
  /** Open it anew after it changed; absent where nothing can change. */
  reopen?(path: string): Promise<void>;
}

export function nameOfMap(key: MapKey): string {
  return [key.item, key.layer, key.kind, key.head, key.variant, key.derived].join(" ");
}

/** The payload of `tracks`: float32, little-endian. */
export function tracksOf(buffer: ArrayBuffer, queries: number): Tracks {
  const values = littleEndian(buffer, buffer.byteLength / 4);
  return { entropy: values.subarray(0, queries), received: values.subarray(queries) };
}

const SIDE = 64;

/** The payload of `thumbs`: each head's values, then each head's states. */
export function thumbsOf(buffer: ArrayBuffer, preview = false): Thumbs {
  const cells = SIDE * SIDE;
  const heads = buffer.byteLength / (cells * 5);
  const values = littleEndian(buffer, heads * cells);
  const states = new Uint8Array(buffer, heads * cells * 4);
  const each = Array.from({ length: heads }, (_, head) => [head * cells, (head + 1) * cells] as const);
  return {
    side: SIDE,
    values: each.map((part) => values.subarray(...part)),
    states: each.map((part) => states.subarray(...part)),
    preview,
  };
}

function littleEndian(buffer: ArrayBuffer, count: number): Float32Array {
  const view = new DataView(buffer);
  return Float32Array.from({ length: count }, (_, i) => view.getFloat32(i * 4, true));
}
