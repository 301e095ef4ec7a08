// Any failure as one sentence and what can be done about it.
import { ServerError } from "../read/api";
import type { mapWords } from "../words/map";

export interface Trouble {
  sentence: string;
  kind: "offline" | "forbidden" | "changed" | "missing" | "other";
}

export function trouble(failure: unknown, words: (typeof mapWords)["en"]): Trouble {
  const said = words.trouble;
  if (!(failure instanceof ServerError)) return { kind: "other", sentence: said.draw };
  if (failure.status === 0) return { kind: "offline", sentence: said.offline };
  if (failure.status === 403) return { kind: "forbidden", sentence: said.forbidden };
  if (failure.status === 409) return { kind: "changed", sentence: said.changed };
  if (failure.status === 404) return { kind: "missing", sentence: said.missing };
  return { kind: "other", sentence: failure.message || said.unknown(failure.status) };
}
