// The app's source: a recording behind the server's routes.
import { answer, api, json, search } from "./api";
import { askingSource, type Given } from "./asking";
import type { Source } from "./source";

export function httpSource(id: string): Source {
  const one = `api/recordings/${encodeURIComponent(id)}`;
  const path = (ask: string, given: Given): string => (ask === "recording" ? one : `${one}/${ask}?${search(given)}`);
  const asking = askingSource(id, {
    document: (ask, given, signal) => json(path(ask, given), signal),
    payload: async (ask, given, signal) => {
      const response = await answer(path(ask, given), signal === undefined ? {} : { signal });
      return { buffer: await response.arrayBuffer(), preview: response.headers.get("x-pozor-preview") === "1" };
    },
  });
  return { ...asking, reopen: async (path) => void (await api.open(path)) };
}
