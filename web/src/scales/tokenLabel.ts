// What a token looks like on an axis: every token is visible, whatever it is made of, and no two kinds look alike.

/** A stretch of a label: letters, a stand-in for something that cannot be seen, or the space before a word. */
export interface Part {
  text: string;
  kind: "plain" | "mark" | "space";
}

const PICTURES: Record<string, string> = {
  " ": "␣",
  "\n": "↵",
  "\t": "⇥",
  "\u00a0": "NBSP",
  "\u007f": "DEL",
};
// the standard's abbreviations: the pictures of these characters (U+2400 …) are missing in many fonts
const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US".split(" ");

// white space, control, format (zero-width, bidi), surrogate, private and unassigned code points
const UNSEEN = /[\p{Z}\p{C}]/u;
const COMBINING = /^\p{M}/u;
export const BEFORE_WORD = /^ [^\p{Z}\p{C}]/u; // most tokenizers keep the space with the word that follows

/** The parts of a token's label, at most `longest` characters before an ellipsis. */
export function parts(token: string, longest = Infinity): Part[] {
  if (token === "") return [{ text: "∅", kind: "mark" }];
  const result: Part[] = [];
  let used = 0;
  const add = (text: string, kind: Part["kind"]): void => {
    const last = result.at(-1);
    if (last !== undefined && last.kind === kind) last.text += text;
    else result.push({ text, kind });
  };
  const spaced = BEFORE_WORD.test(token);
  if (spaced) add(picture(" "), "space");
  for (const character of spaced ? token.slice(1) : token) {
    if (used >= longest) {
      add("…", "mark");
      break;
    }
    if (UNSEEN.test(character)) add(picture(character), "mark");
    else if (used === 0 && COMBINING.test(character)) add(`◌${character}`, "plain");
    else add(character, "plain");
    used += 1;
  }
  return result;
}

/** The same as one string. */
export function label(token: string, longest = Infinity): string {
  return parts(token, longest)
    .map((part) => part.text)
    .join("");
}

/** The label without the space before a word. */
export function word(token: string, longest = Infinity): string {
  const seen = parts(token, longest).filter(({ kind }) => kind !== "space");
  return seen.map(({ text }) => text).join("");
}

/** A token as a sentence names it: without the space before a word, isolated from the direction of the sentence. */
export function spoken(token: string, longest = 24): string {
  return `\u2068${word(token, longest)}\u2069`;
}

/** At most `most` characters of a text, with an ellipsis where some are left out. */
export function shorten(text: string, most: number, from: "start" | "end"): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  if (most <= 1) return "…";
  return from === "start" ? `…${characters.slice(1 - most).join("")}` : `${characters.slice(0, most - 1).join("")}…`;
}

/** A token and what its word has on either side of it. */
interface InWord {
  before: string;
  own: string;
  after: string;
  inText: boolean;
}

/** What there is room for: the token, and as much of its word as fits around it. */
export function cut({ before, own, after, inText }: InWord, longest: number): { before: string; own: Part[]; after: string } {
  const room = Math.max(2, longest - [...own].length);
  return {
    before: before === "" ? "" : shorten(before, room, "start"),
    own: parts(own, longest).filter(({ kind }) => kind !== "space" || !inText),
    after: after === "" ? "" : shorten(after, room - Math.min(room - 1, [...before].length), "end"),
  };
}

/** The letters of a label as they stand on an axis. */
export function seen(token: InWord, longest: number): string {
  const { before, own, after } = cut(token, longest);
  return `${before}${own.map(({ text }) => text).join("")}${after}`;
}

function picture(character: string): string {
  const known = PICTURES[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  return CONTROLS[code] ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
