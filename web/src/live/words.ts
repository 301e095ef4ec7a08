// Pieces of words joined: the key probs of a word add up, its query is its last piece.
import type { LiveDocument } from "../read/documents";
import type { Attention } from "./attention";

export interface Word {
  /** Without the blank before it. */
  text: string;
  first: number; // token
  last: number;
  start: number; // in the text, UTF-16 units; -1 for what stands outside of it
  stop: number;
}

const PART_OF_WORD = /[\p{L}\p{N}\p{M}_]/u;

export function wordsOf({ text, tokens }: Pick<LiveDocument, "text" | "tokens">): Word[] {
  const words: Word[] = [];
  tokens.forEach((token, index) => {
    const before = words.at(-1);
    if (before !== undefined && goesOn({ text, tokens }, index)) {
      before.last = index;
      if (text.slice(before.start, before.stop).trim() === "") before.start = before.stop; // the blank before a word
      before.stop = Math.max(before.stop, token.stop);
      before.text = text.slice(before.start, before.stop);
      return;
    }
    if (token.start < 0) {
      words.push({ text: token.text, first: index, last: index, start: -1, stop: -1 });
      return;
    }
    const own = text.slice(token.start, token.stop);
    const blank = own.length - own.trimStart().length;
    const start = blank < own.length ? token.start + blank : token.start;
    const shown = text.slice(start, token.stop);
    words.push({ text: shown.trim() === "" ? (shown === "\n" ? "↵" : "␣") : shown, first: index, last: index, start, stop: token.stop });
  });
  return words;
}

/** Is this token the rest of the word before it? */
export function goesOn({ text, tokens }: Pick<LiveDocument, "text" | "tokens">, index: number): boolean {
  const [token, before] = [tokens[index], tokens[index - 1]];
  if (token === undefined || before === undefined || token.start < 0 || before.start < 0) return false;
  if (token.start < before.stop) return true; // bytes of one character
  if (text.slice(before.start, before.stop) === " ") return text.slice(token.start, token.stop).trim() !== "";
  const [first, last] = [text.charAt(token.start), text.charAt(token.start - 1)];
  return PART_OF_WORD.test(first) && PART_OF_WORD.test(last);
}

/** probs[row][key] over words `from` and later; null where the key comes after the query. */
export function byWord(attention: Attention, layer: number, head: number, words: readonly Word[], from = 0): (number | null)[][] {
  const shown = words.slice(from);
  return shown.map(({ last }, query) => {
    const row = attention.row(layer, head, last);
    return shown.map((key, index) => (index > query ? null : sum(row, key)));
  });
}

/** One row over all words up to its own. */
export function rowByWord(attention: Attention, layer: number, head: number, words: readonly Word[], query: number): number[] {
  const row = attention.row(layer, head, words[query]?.last ?? 0);
  return words.slice(0, query + 1).map((word) => sum(row, word));
}

/** The head whose newest row gives most to earlier words of the text: neither to its own nor to the start sign. */
export function lookingBack(attention: Attention, words: readonly Word[]): { layer: number; head: number } {
  let [best, most] = [{ layer: 0, head: 0 }, -1];
  for (let layer = 0; layer < attention.layers; layer++) {
    for (let head = 0; head < attention.heads; head++) {
      const row = rowByWord(attention, layer, head, words, words.length - 1).slice(0, -1);
      const back = row.reduce((total, prob, index) => total + ((words[index]?.start ?? -1) < 0 ? 0 : prob), 0);
      if (back > most) [best, most] = [{ layer, head }, back];
    }
  }
  return best;
}

function sum(row: ArrayLike<number>, { first, last }: Word): number {
  let total = 0;
  for (let key = first; key <= last; key++) total += row[key] ?? 0;
  return total;
}
