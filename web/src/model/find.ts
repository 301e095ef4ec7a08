// Finding words in an item: letters are compared without their marks and whatever their case (svejk finds Švejk).
import type { Item } from "../read/item";

type Text = Pick<Item, "text" | "tokens">;

/** Tokens first … last hold what was found. */
export interface Hit {
  first: number;
  last: number;
}

const MARKS = /\p{M}/gu;

export const folded = (text: string): string => text.normalize("NFD").replace(MARKS, "").toLowerCase();

/** The folded text, and for each of its units the unit of the text that it comes from. */
function fold(text: string): { plain: string; from: Uint32Array } {
  const parts: string[] = [];
  const from: number[] = [];
  let at = 0;
  for (const character of text) {
    const plain = character <= "\u007f" ? character.toLowerCase() : folded(character);
    parts.push(plain);
    for (let i = 0; i < plain.length; i++) from.push(at);
    at += character.length;
  }
  return { plain: parts.join(""), from: Uint32Array.from(from) };
}

export class Finder {
  private readonly plain: string;
  private readonly from: Uint32Array;
  private readonly starts: Int32Array; // of tokens in the text that is searched; never falling
  private readonly tokens: Int32Array; // which tokens these are
  private readonly stops: Int32Array;

  constructor({ text, tokens }: Text) {
    const [starts, stops, kept]: [number[], number[], number[]] = [[], [], []];
    let searched = text;
    if (tokens.every(({ start }) => start < 0)) {
      // a recording that keeps no text: its tokens in a row
      searched = tokens.map((token) => token.text).join("");
      let at = 0;
      tokens.forEach((token, index) => {
        starts.push(at);
        at += token.text.length;
        stops.push(at);
        kept.push(index);
      });
    } else {
      tokens.forEach(({ start, stop }, index) => {
        if (start < 0 || stop <= start) return;
        starts.push(Math.max(start, starts.at(-1) ?? 0));
        stops.push(stop);
        kept.push(index);
      });
    }
    [this.starts, this.stops, this.tokens] = [Int32Array.from(starts), Int32Array.from(stops), Int32Array.from(kept)];
    ({ plain: this.plain, from: this.from } = fold(searched));
  }

  /** All places, in the order of the text. */
  find(sought: string): Hit[] {
    const plain = folded(sought.trim());
    if (plain === "") return [];
    const hits: Hit[] = [];
    for (let at = this.plain.indexOf(plain); at >= 0; at = this.plain.indexOf(plain, at + plain.length)) {
      const hit = this.hit(this.from[at] ?? 0, this.from[at + plain.length - 1] ?? 0);
      if (hit !== null) hits.push(hit);
    }
    return hits;
  }

  /** The tokens that hold the text's units from … to. */
  private hit(from: number, to: number): Hit | null {
    let [low, high] = [0, this.starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.starts[middle] ?? 0) <= to) low = middle + 1;
      else high = middle;
    }
    const last = low - 1; // begins at `to` or before it
    if (last < 0 || (this.stops[last] ?? 0) <= from) return null; // in text that no token covers
    let first = last;
    while (first > 0 && (this.stops[first - 1] ?? 0) > from) first -= 1;
    return { first: this.tokens[first] ?? 0, last: this.tokens[last] ?? 0 };
  }
}

const made = new WeakMap<Text, Finder>();

export function finder(item: Text): Finder {
  const held = made.get(item);
  if (held !== undefined) return held;
  const one = new Finder(item);
  made.set(item, one);
  return one;
}

/** Which hit comes next after the one before, round and round; the first at or after a token where there was none. */
export function nextHit(hits: readonly Hit[], now: number | null, by: 1 | -1, near = 0): number | null {
  if (hits.length === 0) return null;
  if (now === null) {
    const at = hits.findIndex(({ first }) => first >= near);
    return at < 0 ? 0 : at;
  }
  return (now + by + hits.length) % hits.length;
}
