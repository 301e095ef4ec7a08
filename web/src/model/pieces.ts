// The text of an item cut into its tokens: pieces of words stay parts of the joined text.
import type { Item } from "../read/item";

/** A stretch of running text. token is null for text that no token covers; `outside` is a token without text. */
export interface Piece {
  token: number | null;
  text: string;
  outside: boolean; // a token that is not in the text (<start>), or a byte of a character that is shown already
  before: string; // white space that the token begins with: it is text, but nothing to light up
}

export function pieces({ text, tokens }: Pick<Item, "text" | "tokens">): Piece[] {
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

/** A token as part of its word: Švejk may be four tokens, and each is shown within the whole. */
export interface Joined {
  before: string;
  own: string; // as the token is, with the space before a word
  after: string;
  inText: boolean; // false: the token is not in the text, so the text does not show where words begin
}

const WORD_END = /[\p{L}\p{N}\p{M}]+$/u;
const WORD_START = /^[\p{L}\p{N}\p{M}]+/u;
const LONGEST_WORD = 40; // UTF-16 units looked at on either side

export function joined({ text, tokens }: Pick<Item, "text" | "tokens">): Joined[] {
  return tokens.map((token) => {
    const own = token.text;
    const whole = token.start >= 0 && text.slice(token.start, token.stop) === own;
    if (!whole) return { before: "", own, after: "", inText: token.start >= 0 };
    const left = text.slice(Math.max(0, token.start - LONGEST_WORD), token.start);
    const right = text.slice(token.stop, token.stop + LONGEST_WORD);
    return {
      before: WORD_START.test(own) ? (WORD_END.exec(left)?.[0] ?? "") : "",
      own,
      after: WORD_END.test(own) ? (WORD_START.exec(right)?.[0] ?? "") : "",
      inText: true,
    };
  });
}
