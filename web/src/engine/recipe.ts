// How each number follows from numbers left of it. Computing, hairlines and explanations all read this one table.
import { at, type Address, type Stage } from "./address.ts";
import { headDim, MOST, WIDTH, type Scale, type State } from "./state.ts";

export type Pair = readonly [Address, Address];

export type Recipe =
  | { kind: "given" }
  | { kind: "dot"; pairs: readonly Pair[] }
  | { kind: "scale"; from: Address; scale: Scale; headDim: number }
  | { kind: "mask"; from: Address; hidden: boolean }
  | { kind: "exp"; from: Address; row: readonly Address[] }
  | { kind: "sum"; terms: readonly Address[] }
  | { kind: "share"; part: Address; whole: Address; row: readonly Address[] }
  | { kind: "copy"; from: Address }
  | { kind: "add"; terms: Pair };

const SPANS = Array.from({ length: MOST + 1 }, (_, n) => Array.from({ length: n }, (_, i) => i)); // made once: asked for by every cell
const span = (n: number): readonly number[] => SPANS[n] ?? Array.from({ length: n }, (_, i) => i);

export function recipe(state: State, cell: Address): Recipe {
  const { stage, head, row, col } = cell;
  if (state.given[stage] !== undefined) return { kind: "given" };
  const words = span(state.words.length);
  const wide = span(WIDTH);
  const dim = headDim(state);
  switch (stage) {
    case "q":
    case "k":
    case "v": {
      const weight: Stage = `w_${stage}`;
      return { kind: "dot", pairs: wide.map((i) => [at("x", row, i), at(weight, i, col)] as const) };
    }
    case "scores": {
      const columns = span(dim).map((i) => head * dim + i);
      return { kind: "dot", pairs: columns.map((i) => [at("q", row, i), at("k", col, i)] as const) };
    }
    case "scaled":
      return { kind: "scale", from: { ...cell, stage: "scores" }, scale: state.scale, headDim: dim };
    case "logits":
      return { kind: "mask", from: { ...cell, stage: "scaled" }, hidden: state.causal && col > row };
    case "exps":
      return {
        kind: "exp",
        from: { ...cell, stage: "logits" },
        row: words.map((j) => at("logits", row, j, head)),
      };
    case "sums":
      return { kind: "sum", terms: words.map((j) => at("exps", row, j, head)) };
    case "probs":
      return {
        kind: "share",
        part: { ...cell, stage: "exps" },
        whole: at("sums", row, 0, head),
        row: words.map((j) => at("exps", row, j, head)),
      };
    case "out":
      return {
        kind: "dot",
        pairs: words.map((j) => [at("probs", row, j, head), at("v", j, head * dim + col)] as const),
      };
    case "concat":
      return { kind: "copy", from: at("out", row, col % dim, Math.floor(col / dim)) };
    case "projected":
      return { kind: "dot", pairs: wide.map((i) => [at("concat", row, i), at("w_o", i, col)] as const) };
    case "result":
      return { kind: "add", terms: [at("projected", row, col), at("x", row, col)] };
    default:
      return { kind: "given" };
  }
}

/** The numbers a number is made of, each once: what hairlines lead to. */
export function operands(recipe: Recipe): readonly Address[] {
  switch (recipe.kind) {
    case "given":
      return [];
    case "dot":
      return recipe.pairs.flat();
    case "sum":
    case "add":
      return recipe.terms;
    case "share":
      return [recipe.part, recipe.whole];
    default:
      return [recipe.from];
  }
}
