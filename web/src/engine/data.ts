// Generated from src/pozor/examples.py by `python -m pozor.viewer.example_data`; do not edit.

export interface Text {
  readonly cs: string;
  readonly en: string;
}

/** Exact decimals as strings, row by row. */
export type Decimals = readonly (readonly string[])[];

export interface ExampleData {
  readonly title: Text;
  readonly sentence: Text;
  readonly words: readonly Text[];
  readonly axes: readonly Text[];
  readonly num_heads: number;
  readonly head_counts: readonly number[];
  readonly causal: boolean;
  readonly residual: boolean;
  readonly matrices: Readonly<Record<string, Decimals>>;
}

export const PAPER: ExampleData = {
  title: { cs: "Tři slova na papíře", en: "Three words on paper" },
  sentence: { cs: "kočka spí venku", en: "the cat sleeps outside" },
  words: [{ cs: "kočka", en: "cat" }, { cs: "spí", en: "sleeps" }, { cs: "venku", en: "outside" }],
  axes: [],
  num_heads: 1,
  head_counts: [1, 2, 4],
  causal: true,
  residual: true,
  matrices: {
    x: [
      ["1", "0", "1", "0"],
      ["0", "1", "0", "1"],
      ["1", "1", "0", "0"],
    ],
    w_q: [
      ["0.9", "0", "0.2", "0"],
      ["0", "0.8", "0", "0.1"],
      ["0.1", "0", "0.3", "0"],
      ["0", "0.2", "0", "0.9"],
    ],
    w_k: [
      ["0.8", "0.1", "0.1", "0"],
      ["0", "0.8", "0", "0"],
      ["0.1", "0", "0.3", "0"],
      ["0", "0.2", "0", "0.9"],
    ],
    w_v: [
      ["0.1", "0.2", "0.1", "0.1"],
      ["0", "0", "0.8", "0.3"],
      ["0.1", "0.6", "-0.1", "0"],
      ["0.7", "0.1", "-0.5", "-0.3"],
    ],
    w_o: [
      ["0.5", "0", "0", "0.5"],
      ["0", "1", "0", "0"],
      ["0", "0.5", "0.5", "0"],
      ["0", "0", "0", "1"],
    ],
  },
};

export const PUB: ExampleData = {
  title: { cs: "Šest slov v hospodě", en: "Six words in a pub" },
  sentence: { cs: "pan švejk vypil pivo v hospodě", en: "mister Švejk drank beer in a pub" },
  words: [{ cs: "pan", en: "mister" }, { cs: "švejk", en: "Švejk" }, { cs: "vypil", en: "drank" }, { cs: "pivo", en: "beer" }, { cs: "v", en: "in" }, { cs: "hospodě", en: "pub" }],
  axes: [{ cs: "osoba", en: "person" }, { cs: "pití", en: "drinking" }, { cs: "místo", en: "place" }, { cs: "sloveso", en: "verb" }],
  num_heads: 1,
  head_counts: [1],
  causal: false,
  residual: false,
  matrices: {
    q: [
      ["0", "0", "0", "0"],
      ["0", "0", "0", "3"],
      ["3", "3", "0", "0"],
      ["0", "0", "0", "3"],
      ["0", "0", "3", "0"],
      ["0", "0", "0", "0"],
    ],
    k: [
      ["3", "0", "0", "0"],
      ["3", "0", "0", "0"],
      ["0", "0", "0", "3"],
      ["0", "3", "0", "0"],
      ["0", "0", "1", "0"],
      ["0", "0", "3", "0"],
    ],
    v: [
      ["1", "0", "0", "0", "0", "0"],
      ["0", "1", "0", "0", "0", "0"],
      ["0", "0", "1", "0", "0", "0"],
      ["0", "0", "0", "1", "0", "0"],
      ["0", "0", "0", "0", "1", "0"],
      ["0", "0", "0", "0", "0", "1"],
    ],
  },
};
