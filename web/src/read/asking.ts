// A source that asks by names and strings, as docs/contracts.md lists the questions, whoever carries them.
import type { BaseDocument, CellDocument, ColumnDocument, HeadsDocument, ItemDocument, MapDocument, RecordingDocument, RowDocument, Value, WhichDocument } from "./documents";
import { itemOf } from "./item";
import { thumbsOf, tracksOf, type MapKey, type Source } from "./source";
import { decode } from "./tile";

export type Given = Record<string, string>;

export interface Payload {
  buffer: ArrayBuffer;
  preview: boolean; // a better answer comes when the base map is ready
}

/** Who carries the questions. */
export interface Asker {
  document<Document>(ask: string, given: Given, signal?: AbortSignal): Promise<Document>; // typed by documents.py
  payload(ask: string, given: Given, signal?: AbortSignal): Promise<Payload>;
}

export function askingSource(name: string, asker: Asker): Source {
  const of = (key: MapKey): Parts => ({ ...key });
  const document = <Document>(ask: string, parts: Parts, signal?: AbortSignal) => asker.document<Document>(ask, given(parts), signal);
  const payload = (ask: string, parts: Parts, signal?: AbortSignal) => asker.payload(ask, given(parts), signal);
  return {
    name,
    recording: (signal) => document<RecordingDocument>("recording", {}, signal),
    item: async (item, signal) => itemOf(await document<ItemDocument>("item", { item }, signal)),
    map: (key, signal) => document<MapDocument>("map", of(key), signal),
    base: (key, value, signal) => document<BaseDocument>("base", { ...of(key), value }, signal),
    tracks: async (key, signal) => {
      const [{ q_len }, { buffer }] = await Promise.all([
        document<MapDocument>("map", of(key), signal),
        payload("tracks", of(key), signal),
      ]);
      return tracksOf(buffer, q_len);
    },
    tile: async (key, value, reduce, place, signal) => {
      const { buffer, preview } = await payload("tile", { ...of(key), value, reduce, ...place }, signal);
      return decode(buffer, preview);
    },
    row: (key, query, hidden, signal, value = "prob") =>
      document<RowDocument>("row", { ...of(key), query, hidden: hidden.join(","), value: unusual(value) }, signal),
    column: (key, column, signal, value = "prob") =>
      document<ColumnDocument>("column", { ...of(key), key: column, value: unusual(value) }, signal),
    cell: (key, query, column, lang, digits, signal) =>
      document<CellDocument>("cell", { ...of(key), query, key: column, lang, digits }, signal),
    heads: (item, signal) => document<HeadsDocument>("heads", { item }, signal),
    thumbs: async ({ item, layer, kind, variant }, value, reduce, signal) => {
      const { buffer, preview } = await payload("thumbs", { item, layer, kind, variant, value, reduce }, signal);
      return thumbsOf(buffer, preview);
    },
    download: async (key, { queries, keys, ...wanted }, signal) =>
      (await payload("download", { ...of(key), ...wanted, queries: queries.join(":"), keys: keys.join(":") }, signal)).buffer,
    which: (item, variant, place, signal) => document<WhichDocument>("which", { item, variant, ...place }, signal),
  };
}

const unusual = (value: Value): Value | null => (value === "prob" ? null : value);

type Parts = Record<string, string | number | null>;

/** What is left out is the default on the other side. */
function given(parts: Parts): Given {
  const kept = Object.entries(parts).filter(([, value]) => value !== null && value !== "");
  return Object.fromEntries(kept.map(([name, value]) => [name, String(value)]));
}
