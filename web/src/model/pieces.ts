// The text of an item cut into its tokens: pieces of words stay parts of the joined text.
import type { ItemDocument } from "../read/documents";

/** A stretch of running text. token is null for text that no token covers; `outside` is a token without text. */
export interface Piece {
  token: number | null;
  text: string;
  outside: boolean; // a token that is not in the text (<start>), or a byte of a character that is shown already
  before: string; // white space that the token begins with: it is text, but nothing to light up
}

export function pieces({ text, tokens }: Pick<ItemDocument, "text" | "tokens">): Piece[] {
  const result: Piece[] = [];
  let at = 0;
  tokens.forEach((token, index) => {
    const start = Math.max(at, token.start);
    if (token.start < 0 || token.stop <= start) {
      result.push({ token: index, text: token.text, outside: true, before: "" });
      return;
    }
    if (start > at) result.push({ token: null, text: text.slice(at, start), outside: false, before: "" });
    const own = text.slice(start, token.stop);
    const [before = ""] = /^\s+(?=\S)/u.exec(own) ?? [];
    result.push({ token: index, text: own.slice(before.length), outside: false, before });
    at = token.stop;
  });
  if (at < text.length) result.push({ token: null, text: text.slice(at), outside: false, before: "" });
  return result;
}
