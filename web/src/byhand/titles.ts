// The names above the matrices, as formulas.
import Big from "big.js";
import type { Stage } from "../engine/address";
import { num, power, root, row, sign, symbol, type Expression } from "../engine/expression";
import { headDim, type State } from "../engine/state";

export function titleOf(state: State, stage: Stage): Expression {
  const k = state.kind === "pub" ? "K" : "k";
  const q = state.kind === "pub" ? "Q" : "q";
  switch (stage) {
    case "w_q":
    case "w_k":
    case "w_v":
    case "w_o":
      return symbol("W", stage.slice(2).toUpperCase());
    case "q":
    case "k":
      return symbol(state.kind === "pub" ? stage.toUpperCase() : stage);
    case "scores":
      return row(symbol("scores"), sign("="), symbol(q), power(symbol(k), symbol("T")));
    case "scaled":
      return scaledTitle(state);
    case "exps":
      return power(symbol("e"), symbol("logits"));
    case "sums":
      return symbol("Σ");
    case "out":
      return row(symbol("out"), sign("="), symbol("probs"), sign("·"), symbol("v"));
    case "projected":
      return row(symbol(state.heads === 1 ? "out" : "concat"), sign("·"), symbol("W", "O"));
    case "result":
      return row(sign("+"), symbol("x"));
    default:
      return symbol(stage);
  }
}

function scaledTitle(state: State): Expression {
  const dim = num(new Big(headDim(state)));
  if (state.scale === "none") return symbol("scores");
  const divided = row(sign("÷"), root(dim));
  return state.scale === "sqrt" ? divided : row(divided, sign("·"), num(new Big(10)));
}
