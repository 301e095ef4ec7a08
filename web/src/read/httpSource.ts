// The app's source: a recording behind the server's routes.
import { answer, api, json, search } from "./api";
import type { BaseDocument, CellDocument, ColumnDocument, HeadsDocument, ItemDocument, MapDocument, RecordingDocument, RowDocument, Value, WhichDocument } from "./documents";
import { itemOf } from "./item";
import { thumbsOf, tracksOf, type MapKey, type Source } from "./source";
import { decode } from "./tile";

const unusual = (value: Value): Value | null => (value === "prob" ? null : value);

type Parts = Record<string, string | number | null>;

export function httpSource(id: string): Source {
  const one = `api/recordings/${encodeURIComponent(id)}`;
  // what is left out is the server's default
  const path = (ask: string, parts: Parts): string =>
    `${one}/${ask}?${search(Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null && value !== "")) as Record<string, string | number>)}`;
  const bytes = async (ask: string, parts: Parts, signal?: AbortSignal): Promise<{ buffer: ArrayBuffer; preview: boolean }> => {
    const response = await answer(path(ask, parts), signal === undefined ? {} : { signal });
    return { buffer: await response.arrayBuffer(), preview: response.headers.get("x-pozor-preview") === "1" };
  };
  const of = (key: MapKey): Parts => ({ ...key });
  return {
    name: id,
    recording: (signal) => json<RecordingDocument>(one, signal),
    item: async (item, signal) => itemOf(await json<ItemDocument>(path("item", { item }), signal)),
    map: (key, signal) => json<MapDocument>(path("map", of(key)), signal),
    base: (key, value, signal) => json<BaseDocument>(path("base", { ...of(key), value }), signal),
    tracks: async (key, signal) => {
      const [{ q_len }, { buffer }] = await Promise.all([
        json<MapDocument>(path("map", of(key)), signal),
        bytes("tracks", of(key), signal),
      ]);
      return tracksOf(buffer, q_len);
    },
    tile: async (key, value, reduce, place, signal) => {
      const { buffer, preview } = await bytes("tile", { ...of(key), value, reduce, ...place }, signal);
      return decode(buffer, preview);
    },
    row: (key, query, hidden, signal, value = "prob") =>
      json<RowDocument>(path("row", { ...of(key), query, hidden: hidden.join(","), value: unusual(value) }), signal),
    column: (key, column, signal, value = "prob") =>
      json<ColumnDocument>(path("column", { ...of(key), key: column, value: unusual(value) }), signal),
    cell: (key, query, column, lang, digits, signal) =>
      json<CellDocument>(path("cell", { ...of(key), query, key: column, lang, digits }), signal),
    heads: (item, signal) => json<HeadsDocument>(path("heads", { item }), signal),
    thumbs: async ({ item, layer, kind, variant }, value, reduce, signal) => {
      const { buffer, preview } = await bytes("thumbs", { item, layer, kind, variant, value, reduce }, signal);
      return thumbsOf(buffer, preview);
    },
    which: (item, variant, place, signal) => json<WhichDocument>(path("which", { item, variant, ...place }), signal),
    reopen: async (path) => void (await api.open(path)),
  };
}
