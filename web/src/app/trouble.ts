// Any failure as one sentence in the reader's language and what can be done about it.
import { ServerError } from "../read/api";
import type { mapWords } from "../words/map";

export interface Trouble {
  sentence: string;
  detail: string; // the server's own sentence, which is English; "" where the page says it all
  kind: "offline" | "forbidden" | "changed" | "missing" | "other";
}

export function trouble(failure: unknown, words: (typeof mapWords)["en"]): Trouble {
  const said = words.trouble;
  if (!(failure instanceof ServerError)) return { kind: "other", sentence: said.draw, detail: "" };
  const { status, message: detail } = failure;
  if (status === 0) return { kind: "offline", sentence: said.offline, detail: "" };
  if (status === 403) return { kind: "forbidden", sentence: said.forbidden, detail: "" };
  if (status === 409) return { kind: "changed", sentence: said.changed, detail: "" };
  if (status === 404) return { kind: "missing", sentence: said.missing, detail: "" };
  if (detail === "") return { kind: "other", sentence: said.silent(status), detail };
  return { kind: "other", sentence: status < 500 ? said.refused : said.broken, detail };
}
