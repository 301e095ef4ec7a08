// The text of an item cut into its tokens: pieces of words stay parts of the joined text. Long texts are cut in blocks.
import type { Item } from "../read/item";

type Text = Pick<Item, "text" | "tokens">;

/** A stretch of running text. token is null for text that no token covers; `outside` is a token without text. */
export interface Piece {
  token: number | null;
  text: string;
  outside: boolean; // a token that is not in the text (<start>), or a byte of a character that is shown already
  before: string; // white space that the token begins with: it is text, but nothing to light up
}

/** Tokens first … stop-1 of a text whose beginning, up to `at`, belongs to blocks before; `end` is where it ends. */
export interface Block {
  first: number;
  stop: number;
  at: number;
  end: number;
}

const LEAST = 256; // tokens of a block
const MOST = 512;

/** A text in blocks, parted where a line ends or, where none does for long, before a word. */
export function blocks({ text, tokens }: Text): Block[] {
  const found: Block[] = [];
  let block: Block = { first: 0, stop: 0, at: 0, end: 0 };
  tokens.forEach((token, index) => {
    const many = index - block.first;
    const within = token.start >= 0 ? Math.max(block.end, token.start) : block.end;
    const lineEnds = many >= LEAST && text.charCodeAt(within - 1) === 10;
    if (lineEnds || (many >= MOST && token.start >= block.end && /^\s/.test(text.charAt(token.start))) || many >= 2 * MOST) {
      found.push(block);
      block = { first: index, stop: index, at: block.end, end: block.end };
    }
    block.stop = index + 1;
    if (token.start >= 0) block.end = Math.max(block.end, token.stop);
  });
  found.push({ ...block, end: text.length });
  return found;
}

export function pieces(item: Text, block: Block = { first: 0, stop: item.tokens.length, at: 0, end: item.text.length }): Piece[] {
  const { text, tokens } = item;
  const result: Piece[] = [];
  let at = block.at;
  for (let index = block.first; index < block.stop; index++) {
    const token = tokens[index];
    if (token === undefined) continue;
    const start = Math.max(at, token.start);
    if (token.start < 0 || token.stop <= start) {
      result.push({ token: index, text: token.text, outside: true, before: "" });
      continue;
    }
    if (start > at) result.push({ token: null, text: text.slice(at, start), outside: false, before: "" });
    const own = text.slice(start, token.stop);
    const [before = ""] = /^\s+(?=\S)/u.exec(own) ?? [];
    result.push({ token: index, text: own.slice(before.length), outside: false, before });
    at = token.stop;
  }
  if (at < block.end) result.push({ token: null, text: text.slice(at, block.end), outside: false, before: "" });
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

function join({ text, tokens }: Text, index: number): Joined {
  const token = tokens[index];
  if (token === undefined) return { before: "", own: String(index), after: "", inText: false };
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
}

/** Names of tokens, each made when it is first asked for: there may be 131,072 of them. */
export class Names {
  private readonly made = new Map<number, Joined>();

  /** null: the text is not here yet, and tokens have numbers for names. */
  constructor(private readonly item: Text | null) {}

  of = (token: number): Joined => {
    const held = this.made.get(token);
    if (held !== undefined) return held;
    const name = join(this.item ?? { text: "", tokens: [] }, token);
    this.made.set(token, name);
    return name;
  };
}

export const joined = (item: Text): Joined[] => item.tokens.map((_, index) => join(item, index));
