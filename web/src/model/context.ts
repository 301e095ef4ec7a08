// A few words on either side of a token: enough to know which of many it is.
import type { Item } from "../read/item";

type Text = Pick<Item, "text" | "tokens">;

const ROOM = 26; // characters on either side

export interface Context {
  before: string;
  after: string;
}

/** The text around tokens first … last, cut where words begin and end. */
export function contextOf({ text, tokens }: Text, first: number, last: number): Context {
  const [from, to] = [tokens[first], tokens[last]];
  if (from === undefined || to === undefined) return { before: "", after: "" };
  if (from.start < 0 || to.start < 0) {
    const join = (a: number, b: number): string => tokens.slice(Math.max(0, a), b).map((token) => token.text).join("");
    return clip(join(first - ROOM, first), join(last + 1, last + 1 + ROOM));
  }
  const spaces = /^\s*/u.exec(text.slice(from.start, from.stop))?.[0].length ?? 0;
  return clip(text.slice(Math.max(0, from.start - 2 * ROOM), from.start + spaces), text.slice(to.stop, to.stop + 2 * ROOM));
}

function clip(left: string, right: string): Context {
  const [before, after] = [left.replace(/\s+/gu, " "), right.replace(/\s+/gu, " ")];
  return {
    before: before.length <= ROOM ? before : `…${before.slice(-ROOM).replace(/^\S*\s/u, "")}`,
    after: after.length <= ROOM ? after : `${after.slice(0, ROOM).replace(/\s\S*$/u, "")}…`,
  };
}
