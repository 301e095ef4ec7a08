// What a token looks like on an axis: every token is visible, whatever it is made of, and no two kinds look alike.

/** A stretch of a label; `mark` is a stand-in for something that cannot be seen. */
export interface Part {
  text: string;
  mark: boolean;
}

const PICTURES: Record<string, string> = {
  " ": "␣",
  "\n": "↵",
  "\t": "⇥",
  "\r": "␍",
  "\u00a0": "⍽",
  "\u007f": "␡",
};

// white space, control, format (zero-width, bidi), surrogate, private and unassigned code points
const UNSEEN = /[\p{Z}\p{C}]/u;
const COMBINING = /^\p{M}/u;

/** The parts of a token's label, at most `longest` characters before an ellipsis. */
export function parts(token: string, longest = Infinity): Part[] {
  if (token === "") return [{ text: "∅", mark: true }];
  const result: Part[] = [];
  let used = 0;
  const add = (text: string, mark: boolean): void => {
    const last = result.at(-1);
    if (last !== undefined && last.mark === mark) last.text += text;
    else result.push({ text, mark });
  };
  for (const character of token) {
    if (used >= longest) {
      add("…", true);
      break;
    }
    if (UNSEEN.test(character)) add(picture(character), true);
    else if (used === 0 && COMBINING.test(character)) add(`◌${character}`, false);
    else add(character, false);
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

function picture(character: string): string {
  const known = PICTURES[character];
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
