// The server's JSON routes, by relative addresses so that the page works under a proxy's prefix.
import type { RecordingCard, StartDocument } from "./documents";

/** status 0: no answer at all. `message` is the server's sentence, "" where there is none. */
export class ServerError extends Error {
  constructor(
    readonly status: number,
    sentence: string,
  ) {
    super(sentence);
  }
}

export function search(parts: Record<string, string | number>): string {
  return new URLSearchParams(Object.entries(parts).map(([name, value]) => [name, String(value)])).toString();
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

export async function json<Document>(path: string, signal?: AbortSignal): Promise<Document> {
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
  open: (path: string) => post<RecordingCard>("api/open", { path }),
};

export function aborted(failure: unknown): boolean {
  return failure instanceof DOMException && failure.name === "AbortError";
}
