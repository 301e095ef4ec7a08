// The server's JSON routes, by relative addresses so that the page works under a proxy's prefix.
import type {
  CellDocument,
  ColumnDocument,
  Kind,
  MapDocument,
  RecordingCard,
  RecordingDocument,
  RowDocument,
  StartDocument,
  Variant,
} from "./documents";

/** status 0: no answer at all. `message` is the server's sentence, "" where there is none. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

/** Which map: the part that every request about it shares. */
export interface MapKey {
  id: string;
  item: number;
  layer: number;
  kind: Kind;
  head: number;
  variant: Variant;
}

export function search(parts: Record<string, string | number>): string {
  return new URLSearchParams(Object.entries(parts).map(([name, value]) => [name, String(value)])).toString();
}

export function mapPath(key: MapKey, leaf: string, more: Record<string, string | number> = {}): string {
  const { id, item, layer, kind, head, variant } = key;
  return `api/recordings/${encodeURIComponent(id)}/${leaf}?${search({ item, layer, kind, head, variant, ...more })}`;
}

export async function answer(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { cache: "no-store", ...init });
  } catch (failure) {
    if (init.signal?.aborted) throw failure;
    throw new ServerError(0, "");
  }
  if (!response.ok) throw new ServerError(response.status, await sentence(response));
  return response;
}

async function sentence(response: Response): Promise<string> {
  try {
    const body: unknown = await response.json();
    if (typeof body === "object" && body !== null && "error" in body && typeof body.error === "string") {
      return body.error;
    }
  } catch {
    // not JSON: a proxy answered
  }
  return "";
}

async function json<Document>(path: string, signal?: AbortSignal): Promise<Document> {
  const response = await answer(path, signal === undefined ? {} : { signal });
  return (await response.json()) as Document; // typed by documents.py on the other side
}

/** Ask by POST; the answer is typed by documents.py on the other side. */
export async function post<Document>(path: string, body: object): Promise<Document> {
  const headers = { "content-type": "application/json" };
  const response = await answer(path, { method: "POST", headers, body: JSON.stringify(body) });
  return (await response.json()) as Document;
}

export const api = {
  start: (signal?: AbortSignal) => json<StartDocument>("api/start", signal),
  recording: (id: string, signal?: AbortSignal) =>
    json<RecordingDocument>(`api/recordings/${encodeURIComponent(id)}`, signal),
  map: (key: MapKey, signal?: AbortSignal) => json<MapDocument>(mapPath(key, "map"), signal),
  row: (key: MapKey, query: number, signal?: AbortSignal) =>
    json<RowDocument>(mapPath(key, "row", { query }), signal),
  column: (key: MapKey, column: number, signal?: AbortSignal) =>
    json<ColumnDocument>(mapPath(key, "column", { key: column }), signal),
  cell: (key: MapKey, query: number, column: number, lang: string, digits: number, signal?: AbortSignal) =>
    json<CellDocument>(mapPath(key, "cell", { query, key: column, lang, digits }), signal),
  open: (path: string) => post<RecordingCard>("api/open", { path }),
};

export function aborted(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError";
}
