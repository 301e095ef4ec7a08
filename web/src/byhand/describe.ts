// Numbers, places and notes in words: the engine's records meet the page's sentences here.
import { at, type Address, type Stage } from "../engine/address";
import { value, type Working } from "../engine/compute";
import { list, percent, show, toFloat, type Digits, type Lang, type Num } from "../engine/decimal";
import type { Note } from "../engine/notes";
import { recipe } from "../engine/recipe";
import type { State } from "../engine/state";
import { ranked, readout } from "../model/readout";
import type { ByHandWords } from "../words/byhand";
import type { NoteWords } from "../words/byhandNotes";
import { readoutText } from "../words/readout";

/** The identifier of a matrix in running text; the code has the same. */
export const NAMES: Readonly<Record<Stage, string>> = {
  x: "x",
  w_q: "W_Q",
  w_k: "W_K",
  w_v: "W_V",
  q: "q",
  k: "k",
  v: "v",
  scores: "scores",
  scaled: "scaled",
  logits: "logits",
  exps: "exp",
  sums: "sum",
  probs: "probs",
  out: "out",
  concat: "concat",
  w_o: "W_O",
  projected: "concat · W_O",
  result: "result",
};

const SQUARE: ReadonlySet<Stage> = new Set<Stage>(["scores", "scaled", "logits", "exps", "probs"]);

/** Where a number stands, as a screen reader says it. */
export function placeOf({ words: sentence, heads }: Pick<State, "words" | "heads">, a: Address, words: ByHandWords): string {
  const word = (i: number): string => sentence[i]?.text ?? "";
  const stage = heads > 1 && (SQUARE.has(a.stage) || a.stage === "out") ? `${NAMES[a.stage]}, ${words.head(a.head)}` : NAMES[a.stage];
  if (a.stage === "sums") return words.sumPlace(word(a.row));
  const row = a.stage.startsWith("w_") ? String(a.row + 1) : word(a.row);
  return words.place({ stage, row, col: SQUARE.has(a.stage) ? word(a.col) : String(a.col + 1) });
}

export function noteText(note: Note, working: Working, a: Address, digits: Digits, lang: Lang, words: NoteWords): string {
  const say = (n: Num): string => show(n, digits, lang);
  const word = (i: number): string => working.state.words[i]?.text ?? "";
  switch (note.note) {
    case "sumOfRounded":
      return words.sumOfRounded(localList(note.shown, lang), localOne(note.sum, lang));
    case "termsRounded":
      return words.termsRounded;
    case "closeExponential":
      return words.closeExponential(show(note.value, 6, lang), show(note.value, 3, lang));
    case "firstRow":
      return words.firstRow(say(note.logit));
    case "hidden":
      return words.hidden(word(a.row), word(a.col));
    case "float":
      return words.float(localOne(note.text, lang));
    case "edited":
      return words.edited(say(value(working, a)), say(note.computed));
    case "unbalanced":
      return words.unbalanced(show(note.sum, digits === 2 ? 3 : digits, lang));
    case "shifted":
      return working.forced ? words.forced : words.shifted;
    case "nothing":
      return words.nothing;
  }
}

const localOne = (text: string, lang: Lang): string => (lang === "cs" ? text.replace(".", ",") : text);

function localList(texts: readonly string[], lang: Lang): string {
  const plus = texts.map((t) => localOne(t, lang));
  return plus.join(" + ");
}

/** Where the word of a row looks, as a phrase beside the word. */
export function readoutOf(working: Working, row: number, head: number, lang: Lang): string {
  const probs = working.state.words.map((_, key) => toFloat(value(working, at("probs", row, key, head))));
  const seen = probs.map((p, key) => p > 0 || toFloat(value(working, at("logits", row, key, head))) > -Infinity);
  const key = (index: number): string => working.state.words[index]?.text ?? "";
  return readoutText(readout(ranked(probs, seen)), { who: "", row, key, most: probs.length }, lang);
}

/** „venku gives 31 % of its attention to kočka, 30 % to spí and 39 % to itself.“ */
export function rowSentence(working: Working, row: number, head: number, lang: Lang, words: NoteWords): string {
  const { sentence } = words;
  const parts = working.state.words.flatMap((w, j) => {
    const share = value(working, at("probs", row, j, head));
    if (toFloat(share) === 0) return [];
    return [{ share: percent(share, lang), key: j === row ? sentence.itself : w.text }];
  });
  const told = parts.map(({ share, key }, i) => (i === 0 ? sentence.part(share, key) : sentence.partMore(share, key)));
  // „slovu samo sobě“ is no Czech: to itself stands without the noun
  const smooth = told.map((t) => t.replace("slovu samo sobě", "samo sobě"));
  const joined = smooth.length < 2 ? smooth.join("") : `${smooth.slice(0, -1).join(", ")}${sentence.and}${smooth.at(-1) ?? ""}`;
  return smooth.length === 0 ? words.nothing : sentence.row(working.state.words[row]?.text ?? "", joined);
}

/** One number as a sentence. */
export function numberSentence(
  working: Working,
  a: Address,
  digits: Digits,
  lang: Lang,
  notes: NoteWords,
  words: ByHandWords,
): string {
  const { sentence } = notes;
  const get = (x: Address): Num => value(working, x);
  const say = (n: Num): string => show(n, digits, lang);
  const word = (i: number): string => working.state.words[i]?.text ?? "";
  const cell = working.cells.get(`${a.stage}.${a.head}.${a.row}.${a.col}`);
  const n = say(cell?.computed ?? get(a));
  const r = recipe(working.state, a);
  const told = ((): string => {
    switch (r.kind) {
      case "given":
        return sentence.given(placeOf(working.state, a, words), n);
      case "dot":
        if (a.stage === "scores") return sentence.scores(word(a.row), word(a.col), n);
        if (a.stage === "out") return sentence.out(word(a.row), n);
        return sentence.product(placeOf(working.state, a, words), vector(r.pairs.map(([l]) => say(get(l))), lang), vector(r.pairs.map(([, x]) => say(get(x))), lang), n);
      case "scale":
        if (r.scale === "none") return sentence.none(say(get(r.from)));
        return sentence[r.scale](say(get(r.from)), r.headDim, n);
      case "mask":
        return r.hidden ? sentence.hidden(word(a.row), word(a.col)) : sentence.visible(word(a.row), word(a.col), say(get(r.from)));
      case "exp":
        return sentence.exp(say(get(r.from)), n);
      case "sum":
        return sentence.sum(word(a.row), n);
      case "share":
        return sentence.share(word(a.row), word(a.col), say(get(r.part)), say(get(r.whole)), n);
      case "copy":
        return sentence.copy(Math.floor((a.col * working.state.heads) / 4), n);
      case "add":
        return sentence.add(n);
    }
  })();
  return cell?.computed === null || cell === undefined ? told : `${told} ${sentence.edited(say(cell.value))}`;
}

const vector = (numbers: readonly string[], lang: Lang): string => `[${list(numbers, lang)}]`;
