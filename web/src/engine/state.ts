// What a learner can change, as one immutable value: words, given numbers, options, numbers edited in the middle.
import { PAPER, PUB, type ExampleData } from "./data.ts";
import type { Stage } from "./address.ts";

export type Kind = "paper" | "pub";
export type Scale = "sqrt" | "none" | "times10"; // ÷ √head_dim · nothing · 10 times the divided scores
export const SCALES: readonly Scale[] = ["sqrt", "none", "times10"];
export const FEWEST = 2;
export const MOST = 8; // words
export const LONGEST = 24; // characters of a word
export const WIDTH = 4; // d_model of paper, head_dim of pub

export interface Word {
  readonly text: string;
  readonly gloss: string; // in English, under the word; may be empty
}

/** Is there anything to see in it? A word of spaces or zero-width characters would be a blank label. */
export function isVisible(word: string): boolean {
  return /[\p{L}\p{N}\p{P}\p{S}]/u.test(word);
}

/** Decimals with a point, row by row. */
export type Table = readonly (readonly string[])[];

export interface State {
  readonly kind: Kind;
  readonly words: readonly Word[];
  readonly given: Readonly<Partial<Record<Stage, Table>>>;
  readonly heads: number;
  readonly scale: Scale;
  readonly causal: boolean;
  readonly subtractMax: boolean; // before exp; changes no weight
  readonly edits: Readonly<Record<string, string>>; // address → number that no longer follows from its left
}

const DATA: Readonly<Record<Kind, ExampleData>> = { paper: PAPER, pub: PUB };

export function data(kind: Kind): ExampleData {
  return DATA[kind];
}

/** The matrices that a kind starts from. */
export const GIVEN: Readonly<Record<Kind, readonly Stage[]>> = {
  paper: ["x", "w_q", "w_k", "w_v", "w_o"],
  pub: ["q", "k"],
};

/** The matrices with one row a word; the others are always 4 × 4. */
export const BY_WORD: Readonly<Record<Kind, readonly Stage[]>> = { paper: ["x"], pub: ["q", "k"] };

export function initial(kind: Kind): State {
  const source = DATA[kind];
  const given: Partial<Record<Stage, Table>> = {};
  for (const stage of GIVEN[kind]) given[stage] = source.matrices[stage] ?? [];
  return {
    kind,
    words: source.words.map((word) => ({ text: word.cs, gloss: word.en })),
    given,
    heads: source.num_heads,
    scale: "sqrt",
    causal: source.causal,
    subtractMax: false,
    edits: {},
  };
}

export function headDim(state: State): number {
  return WIDTH / state.heads;
}
