// Pieces of words put together: which tokens make one word of the text.
import type { Item } from "../read/item";
import type { Joined } from "./pieces";

type Text = Pick<Item, "text" | "tokens">;

const LETTER = /^[\p{L}\p{N}\p{M}]/u;

/** Is the character at a place of the text a part of a word? A place may be the second half of a character. */
function letter(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  if (code < 128) return (code >= 48 && code <= 57) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
  const from = code >= 0xdc00 && code <= 0xdfff ? at - 1 : at;
  return LETTER.test(text.slice(from, from + 2));
}

export class WholeWords {
  /** The word of each token. */
  readonly of: Int32Array;
  private readonly firsts: number[] = [];

  constructor(private readonly item: Text) {
    const { text, tokens } = item;
    this.of = new Int32Array(tokens.length);
    let end = -1; // where the token before ended; -1: not in the text
    tokens.forEach(({ start, stop }, index) => {
      // bytes of one character lie in the same place of the text
      const goesOn = end >= 0 && start >= 0 && (start < end || (start === end && letter(text, start) && letter(text, end - 1)));
      if (!goesOn) this.firsts.push(index);
      this.of[index] = this.firsts.length - 1;
      end = start < 0 ? -1 : stop;
    });
  }

  get count(): number {
    return this.firsts.length;
  }

  /** The first and the last token of a word. */
  span(word: number): { first: number; last: number } {
    return { first: this.firsts[word] ?? 0, last: (this.firsts[word + 1] ?? this.of.length) - 1 };
  }

  /** The first and the last token of the word that a token belongs to. */
  around(token: number): { first: number; last: number } {
    const word = this.of[token];
    return word === undefined ? { first: token, last: token } : this.span(word);
  }

  /** A word's name: all of its pieces, with the space before. */
  name(word: number): Joined {
    const { first, last } = this.span(word);
    const { text, tokens } = this.item;
    const [from, to] = [tokens[first], tokens[last]];
    if (from === undefined || to === undefined) return { before: "", own: String(first), after: "", inText: false };
    if (first === last) return { before: "", own: from.text, after: "", inText: from.start >= 0 };
    return { before: "", own: text.slice(from.start, to.stop), after: "", inText: true };
  }

  /** Numbers of tokens, added up over each word; null counts as nothing known and makes its word unknown. */
  sums(values: readonly (number | null)[]): (number | null)[] {
    const found: (number | null)[] = new Array<number | null>(this.count).fill(0);
    for (let token = 0; token < values.length; token++) {
      const word = this.of[token];
      if (word === undefined) continue;
      const [sum, value] = [found[word] ?? null, values[token] ?? null];
      found[word] = sum === null || value === null ? null : sum + value;
    }
    return found;
  }
}

const made = new WeakMap<Text, WholeWords>();

/** The words of an item, found once. */
export function wholeWords(item: Text): WholeWords {
  const held = made.get(item);
  if (held !== undefined) return held;
  const words = new WholeWords(item);
  made.set(item, words);
  return words;
}
