// Where a number comes from, term by term: chunks of a formula that may break between lines.
import { at, type Address } from "./address.ts";
import { add, isExact, isRounded, multiply, toFloat, type Num } from "./decimal.ts";
import { cell, largest, value, type Working } from "./compute.ts";
import {
  factor,
  fraction,
  num,
  power,
  root,
  row,
  sign,
  symbol,
  type Expression,
  type Style,
} from "./expression.ts";
import { recipe, type Pair, type Recipe } from "./recipe.ts";
import Big from "big.js";

export interface Explanation {
  readonly at: Address;
  readonly recipe: Recipe;
  readonly value: Num;
  readonly computed: Num | null; // of an edited number: what would follow from its left
  readonly chunks: readonly Expression[]; // the whole formula; a line may break before each
}

const NAMES: Readonly<Record<Address["stage"], string>> = {
  x: "x",
  w_q: "W",
  w_k: "W",
  w_v: "W",
  q: "q",
  k: "k",
  v: "v",
  scores: "score",
  scaled: "scaled",
  logits: "logit",
  exps: "exp",
  sums: "sum",
  probs: "p",
  out: "out",
  concat: "concat",
  w_o: "W",
  projected: "proj",
  result: "y",
};

/** A number by name: q with 3,1 below, counted from 1 as on paper. */
export function name(a: Address): Expression {
  const weight = /^w_([qkvo])$/.exec(a.stage)?.[1];
  const place = a.stage === "sums" ? String(a.row + 1) : `${a.row + 1},${a.col + 1}`;
  return symbol(NAMES[a.stage], weight === undefined ? place : `${weight.toUpperCase()};${place}`);
}

export function explain(working: Working, a: Address, style: Style): Explanation {
  const { value: shown, computed } = cell(working, a);
  const r = recipe(working.state, a);
  // an edited number is explained as what it was made of before the edit
  const target = computed ?? shown;
  const chunks = [name(a), ...body(working, a, r, target, style)];
  return { at: a, recipe: r, value: shown, computed, chunks };
}

/** = where every digit stands, ≐ (Czech) or ≈ (English) where a number after it was rounded. */
function relation(numbers: readonly Num[], { digits, lang }: Style): string {
  if (!numbers.some((n) => isRounded(n, digits))) return "=";
  return lang === "cs" ? "≐" : "≈";
}

function equals(n: Num, style: Style): Expression {
  return sign(relation([n], style));
}

function body(working: Working, a: Address, r: Recipe, target: Num, style: Style): Expression[] {
  const get = (x: Address): Num => value(working, x);
  const result = row(equals(target, style), num(target));
  switch (r.kind) {
    case "given":
      return [result];
    case "dot":
      return dot(working, a, r.pairs, result, style);
    case "scale":
      return [...scaling(get(r.from), r, style), result];
    case "mask":
      return [result];
    case "exp":
      return exponential(working, get(r.from), r.row.map(get), target, style);
    case "sum":
      return [...terms(r.terms.map(get), style), result];
    case "share":
      if (toFloat(get(r.whole)) === 0) return [result];
      return [
        row(sign("="), fraction(name(r.part), name(r.whole))),
        row(sign(relation([get(r.part), get(r.whole)], style)), fraction(num(get(r.part)), num(get(r.whole)))),
        result,
      ];
    case "copy":
      return [row(sign("="), name(r.from)), result];
    case "add":
      return [row(sign("="), name(r.terms[0]), sign("+"), name(r.terms[1])), ...terms(r.terms.map(get), style), result];
  }
}

function dot(working: Working, a: Address, pairs: readonly Pair[], result: Expression, style: Style): Expression[] {
  const values = pairs.map(([l, r]) => [value(working, l), value(working, r)] as const);
  const products = values.map(([l, r]) => multiply(l, r));
  const first = relation(values.flat(), style);
  const written = values.map(([l, r], i) => row(sign(i === 0 ? first : "+"), factor(l), sign("·"), factor(r)));
  const summed = pairs.length === 1 ? [] : terms(products, style);
  return [...symbols(a, pairs), ...written, ...summed, result];
}

// scores are named by their two vectors, the other products by row and column
function symbols(a: Address, pairs: readonly Pair[]): Expression[] {
  const first = pairs[0];
  if (first === undefined) return [];
  if (a.stage === "scores") {
    return [row(sign("="), symbol("q", String(a.row + 1)), sign("·"), symbol("k", String(a.col + 1)))];
  }
  return pairs.map(([l, r], i) => row(sign(i === 0 ? "=" : "+"), name(l), sign("·"), name(r)));
}

/** Terms of a sum; a negative one is subtracted. */
function terms(values: readonly Num[], style: Style): Expression[] {
  return values.map((n, i) => {
    if (i === 0) return row(equalsAll(values, style), num(n));
    return toFloat(n) < 0 ? row(sign("−"), num(negated(n))) : row(sign("+"), num(n));
  });
}

const equalsAll = (values: readonly Num[], style: Style): Expression => sign(relation(values, style));
const negated = (n: Num): Num => (isExact(n) ? n.times(-1) : -n);

function scaling(score: Num, r: Extract<Recipe, { kind: "scale" }>, style: Style): Expression[] {
  if (r.scale === "none") return [];
  const dim = new Big(r.headDim);
  const squareRoot = Math.sqrt(r.headDim);
  const exactRoot: Num = Number.isInteger(squareRoot) ? new Big(squareRoot) : squareRoot;
  const ten = r.scale === "times10" ? [num(new Big(10)), sign("·")] : [];
  return [
    row(equals(score, style), ...ten, fraction(num(score), root(num(dim)))),
    row(sign(relation([score, exactRoot], style)), ...ten, fraction(num(score), num(exactRoot))),
  ];
}

function exponential(working: Working, logit: Num, all: readonly Num[], target: Num, style: Style): Expression[] {
  const e = symbol("e");
  const result = row(equals(target, style), num(target));
  if (!working.shifted || toFloat(logit) === -Infinity) return [row(equals(logit, style), power(e, num(logit))), result];
  const top = largest(all);
  const difference = add(logit, negated(top));
  return [
    row(sign(relation([logit, top], style)), power(e, row(num(logit), sign("−"), factor(top)))),
    row(equals(difference, style), power(e, num(difference))),
    result,
  ];
}

/** The working of one row, from its scores to its weights and their weighted sum. */
export function rowAddresses(working: Working, query: number, head: number): Address[] {
  const words = working.state.words.map((_, j) => j);
  const line = (stage: Address["stage"]): Address[] => words.map((j) => at(stage, query, j, head));
  const out = working.state.kind === "pub" ? [] : Array.from({ length: 4 / working.state.heads }, (_, c) => at("out", query, c, head));
  return [...line("scores"), ...line("scaled"), ...line("logits"), ...line("exps"), at("sums", query, 0, head), ...line("probs"), ...out];
}
