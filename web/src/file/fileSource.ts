// The single file's source: the page's own engine, in a classic worker made of text, or in the page where none may run.
import { ServerError } from "../read/api";
import type { BaseDocument, CellDocument, ColumnDocument, HeadsDocument, ItemDocument, MapDocument, RecordingDocument, RowDocument, WhichDocument } from "../read/documents";
import { itemOf } from "../read/item";
import { thumbsOf, tracksOf, type MapKey, type Source } from "../read/source";
import { decode } from "../read/tile";
import { serve, type Question, type Said } from "./engine/serve";
import Engine from "./engine/worker?worker&inline";
import type { FileDocument } from "./held";

type Parts = Record<string, string | number | null>;
type Bytes = { buffer: ArrayBuffer; preview: boolean };

interface Waiting {
  resolve(said: Said): void;
  reject(failure: unknown): void;
}

export interface FileSource extends Source {
  /** What computes: WASM or plain JavaScript, in a worker or in the page. */
  readonly engine: Promise<{ kind: "wasm" | "js"; place: "worker" | "page" }>;
}

/** Serve a file; texts are the base64 of its arrays by name. */
export function fileSource(document: FileDocument, texts: Readonly<Record<string, string>>): FileSource {
  const waiting = new Map<number, Waiting>();
  let last = 0;
  let ready: (found: { kind: "wasm" | "js"; place: "worker" | "page" }) => void = () => undefined;
  const engine = new Promise<{ kind: "wasm" | "js"; place: "worker" | "page" }>((resolve) => (ready = resolve));
  const hear = (said: Said, place: "worker" | "page"): void => {
    if ("ready" in said) return ready({ kind: said.ready, place });
    const one = waiting.get(said.n);
    waiting.delete(said.n);
    if ("error" in said) one?.reject(new ServerError(said.status, said.error));
    else one?.resolve(said);
  };
  const send = start(document, texts, hear);

  function ask(name: string, parts: Parts, signal?: AbortSignal): Promise<Said> {
    const n = (last += 1);
    const given = Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== null && value !== "").map(([key, value]) => [key, String(value)]));
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      waiting.set(n, { resolve, reject });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(n)) return;
        send({ cancel: [n] });
        reject(signal.reason);
      });
      send({ n, ask: name, given });
    });
  }
  async function json<Document>(name: string, parts: Parts, signal?: AbortSignal): Promise<Document> {
    const said = await ask(name, parts, signal);
    return ("document" in said ? said.document : null) as Document; // typed on the other side
  }
  async function bytes(name: string, parts: Parts, signal?: AbortSignal): Promise<Bytes> {
    const said = await ask(name, parts, signal);
    return "payload" in said ? { buffer: said.payload, preview: said.preview } : { buffer: new ArrayBuffer(0), preview: false };
  }
  const of = (key: MapKey): Parts => ({ ...key });
  return {
    name: "file",
    engine,
    recording: (signal) => json<RecordingDocument>("recording", {}, signal),
    item: async (item, signal) => itemOf(await json<ItemDocument>("item", { item }, signal)),
    map: (key, signal) => json<MapDocument>("map", of(key), signal),
    base: (key, value, signal) => json<BaseDocument>("base", { ...of(key), value }, signal),
    tracks: async (key, signal) => {
      const { q_len } = await json<MapDocument>("map", of(key), signal);
      return tracksOf((await bytes("tracks", of(key), signal)).buffer, q_len);
    },
    tile: async (key, value, reduce, place, signal) => {
      const { buffer, preview } = await bytes("tile", { ...of(key), value, reduce, ...place }, signal);
      return decode(buffer, preview);
    },
    row: (key, query, hidden, signal, value = "prob") => json<RowDocument>("row", { ...of(key), query, hidden: hidden.join(","), value }, signal),
    column: (key, column, signal, value = "prob") => json<ColumnDocument>("column", { ...of(key), key: column, value }, signal),
    cell: (key, query, column, lang, digits, signal) => json<CellDocument>("cell", { ...of(key), query, key: column, lang, digits }, signal),
    heads: (item, signal) => json<HeadsDocument>("heads", { item }, signal),
    thumbs: async ({ item, layer, kind, variant }, value, reduce, signal) =>
      thumbsOf((await bytes("thumbs", { item, layer, kind, variant, value, reduce }, signal)).buffer),
    which: (item, variant, place, signal) => json<WhichDocument>("which", { item, variant, ...place }, signal),
  };
}

type Hear = (said: Said, place: "worker" | "page") => void;

/** A worker, or, where the browser or the frame around the page allows none, the same in the page. */
function start(document: FileDocument, texts: Readonly<Record<string, string>>, hear: Hear): (question: Question) => void {
  let send: ((question: Question) => void) | null = null;
  let heard = false;
  const early: Question[] = []; // asked before a worker that fails has failed
  const here = (): void => {
    send = serve(document, texts, (said) => hear(said, "page"));
    for (const question of early.splice(0)) send(question);
  };
  try {
    const worker = new Engine();
    worker.onmessage = ({ data }: MessageEvent<Said>) => {
      heard = true;
      early.length = 0;
      hear(data, "worker");
    };
    worker.onerror = () => {
      if (!heard) here();
    };
    send = (question) => {
      if (!heard) early.push(question);
      worker.postMessage(question);
    };
    worker.postMessage({ start: { document, texts } });
  } catch {
    here();
  }
  return (question) => (send === null ? early.push(question) : send(question));
}
