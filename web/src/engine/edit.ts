// Every change a learner can make, as a function from a state to the next state or to the rule it breaks.
import { id, parseId, PER_HEAD, type Address } from "./address.ts";
import { LINE, shape } from "./compute.ts";
import { parse, plainText, type NumberFault } from "./decimal.ts";
import { BY_WORD, data, FEWEST, isVisible, LONGEST, MOST, WIDTH, type Scale, type State, type Table } from "./state.ts";

export type Fault =
  | { rule: NumberFault }
  | { rule: "infinite" } // −∞ only hides a key, so only logits take it
  | { rule: "negative" } // e to a power is never negative
  | { rule: "share" } // a weight lies between 0 and 1
  | { rule: "zero" } // a sum that is divided by
  | { rule: "word" | "longWord" | "fewest" | "most" };

export type Outcome = { state: State } | { fault: Fault };

const MINUS_INFINITY = /^[-−–](inf(inity)?|∞)$/i;

/** Does the number stand at the left, given, or does it follow from others? */
export function isGiven(state: State, a: Address): boolean {
  return state.given[a.stage] !== undefined;
}

export function readNumber(text: string, a: Address): string | Fault {
  if (MINUS_INFINITY.test(text.replace(/\s/g, ""))) return a.stage === "logits" ? "-inf" : { rule: "infinite" };
  const value = parse(text);
  if (typeof value === "string") return { rule: value };
  if (a.stage === "exps" && value.lt(0)) return { rule: "negative" };
  if (a.stage === "sums" && value.lte(0)) return { rule: "zero" };
  if (a.stage === "probs" && (value.lt(0) || value.gt(1))) return { rule: "share" };
  return plainText(value);
}

export function setNumber(state: State, a: Address, text: string): Outcome {
  const number = readNumber(text, a);
  if (typeof number !== "string") return { fault: number };
  const table = state.given[a.stage];
  if (table === undefined) return { state: { ...state, edits: { ...state.edits, [id(a)]: number } } };
  const changed: Table = table.map((row, i) =>
    i === a.row ? row.map((n, j) => (j === a.col ? number : n)) : row,
  );
  return { state: { ...state, given: { ...state.given, [a.stage]: changed } } };
}

/** Let an edited number follow from its left again. */
export function reattach(state: State, a: Address): State {
  const { [id(a)]: _, ...edits } = state.edits;
  return { ...state, edits };
}

export function reattachAll(state: State): State {
  return { ...state, edits: {} };
}

/** A word written anew loses its English gloss, which translated the old one. */
export function setWord(state: State, index: number, text: string): Outcome {
  const word = text.trim().replace(/\s+/g, " ");
  if (!isVisible(word)) return { fault: { rule: "word" } };
  if ([...word].length > LONGEST) return { fault: { rule: "longWord" } };
  const original = data(state.kind).words.find((w) => w.cs === word);
  const words = state.words.map((w, i) =>
    i === index && w.text !== word ? { text: word, gloss: original?.en ?? "" } : w,
  );
  return { state: { ...state, words } };
}

/** A new word stands at the end; its zeros ask for nothing and offer nothing. */
export function addWord(state: State, text: string): Outcome {
  if (state.words.length >= MOST) return { fault: { rule: "most" } };
  const given = { ...state.given };
  for (const stage of BY_WORD[state.kind]) {
    given[stage] = [...(state.given[stage] ?? []), Array.from({ length: WIDTH }, () => "0")];
  }
  return { state: { ...state, words: [...state.words, { text, gloss: "" }], given } };
}

/** The rows and columns after the removed word move up by one, and their edits with them. */
export function removeWord(state: State, index: number): Outcome {
  if (state.words.length <= FEWEST) return { fault: { rule: "fewest" } };
  const given = { ...state.given };
  for (const stage of BY_WORD[state.kind]) {
    given[stage] = (state.given[stage] ?? []).filter((_, i) => i !== index);
  }
  const words = state.words.filter((_, i) => i !== index);
  const edits: Record<string, string> = {};
  for (const [key, number] of Object.entries(state.edits)) {
    const a = parseId(key);
    if (a === null) continue;
    const square = PER_HEAD.has(a.stage) && a.stage !== "sums" && a.stage !== "out";
    if (a.row === index || (square && a.col === index)) continue;
    const moved = {
      ...a,
      row: a.row > index ? a.row - 1 : a.row,
      col: square && a.col > index ? a.col - 1 : a.col,
    };
    edits[id(moved)] = number;
  }
  return { state: { ...state, words, given, edits } };
}

/** Other heads have other scores: what was edited inside a head goes, the rest stays. */
export function setHeads(state: State, heads: number): State {
  if (heads === state.heads || !data(state.kind).head_counts.includes(heads)) return state;
  const edits = Object.fromEntries(
    Object.entries(state.edits).filter(([key]) => {
      const stage = parseId(key)?.stage;
      return stage !== undefined && !PER_HEAD.has(stage);
    }),
  );
  return { ...state, heads, edits };
}

export function setScale(state: State, scale: Scale): State {
  return { ...state, scale };
}

export function setCausal(state: State, causal: boolean): State {
  return { ...state, causal };
}

export function setSubtractMax(state: State, subtractMax: boolean): State {
  return { ...state, subtractMax };
}

/** Is there such a number in this state, and may it be edited in the middle? */
export function isMiddle(state: State, a: Address): boolean {
  if (!LINE[state.kind].includes(a.stage) || isGiven(state, a)) return false;
  const [rows, cols] = shape(state, a.stage);
  const heads = PER_HEAD.has(a.stage) ? state.heads : 1;
  return a.row < rows && a.col < cols && a.head < heads;
}
