// What a learner who compares with a text will stumble over, found where it happens. Words are the page's.
import Big from "big.js";
import { at, type Address } from "./address.ts";
import { cell, compute, value, type Working } from "./compute.ts";
import { show, toFloat, type Digits, type Num } from "./decimal.ts";
import { setScale } from "./edit.ts";
import { recipe } from "./recipe.ts";

export type Note =
  | { note: "sumOfRounded"; shown: readonly string[]; sum: string; true: Num } // .309 + .297 + .395 = 1.001
  | { note: "termsRounded" } // the terms shown do not add up to the result shown
  | { note: "closeExponential"; power: Num; value: Num } // exp(.445) is 1.560, not 1.561
  | { note: "firstRow"; logit: Num } // one key left: [1, 0, 0], whatever the logit
  | { note: "hidden" } // this word comes later
  | { note: "float"; text: string } // .30000000000000004
  | { note: "edited"; computed: Num }
  | { note: "unbalanced"; sum: Num } // edited weights that do not add up to 1
  | { note: "shifted" }
  | { note: "nothing" };

/** The notes that belong to one number. */
export function notesOf(working: Working, a: Address, digits: Digits): Note[] {
  const notes: Note[] = [];
  const { value: n, computed } = cell(working, a);
  if (computed !== null) notes.push({ note: "edited", computed });
  const fixed = digits === "all" || digits === "binary" ? null : digits;
  if (a.stage === "probs" || a.stage === "sums") notes.push(...rowNotes(working, a, digits));
  if (a.stage === "logits" && toFloat(n) === -Infinity && working.state.causal && a.col > a.row) notes.push({ note: "hidden" });
  if (a.stage === "logits" || a.stage === "probs" || a.stage === "exps") notes.push(...firstRow(working, a));
  if (a.stage === "exps" && !working.shifted) notes.push(...closeExponential(working, a));
  if (a.stage === "exps" && working.shifted) notes.push({ note: "shifted" });
  if (fixed !== null && termsDisagree(working, a, fixed)) notes.push({ note: "termsRounded" });
  if (working.binary && typeof n === "number" && String(n).length > 15 && isDecimal(working, a)) {
    notes.push({ note: "float", text: String(n) });
  }
  return notes;
}

function rowNotes(working: Working, a: Address, digits: Digits): Note[] {
  const row = working.state.words.map((_, j) => value(working, at("probs", a.row, j, a.head)));
  const total = row.reduce<number>((sum, p) => sum + toFloat(p), 0);
  if (total === 0) return [{ note: "nothing" }];
  if (Math.abs(total - 1) > 1e-9) return [{ note: "unbalanced", sum: total }];
  if (a.stage === "sums" || digits === "all" || digits === "binary") return [];
  const shown = row.map((p) => show(p, digits, "en"));
  const sum = shown.reduce((s, text) => s.plus(text.includes("·") ? 0 : text.replace("−", "-")), new Big(0));
  return sum.eq(1) ? [] : [{ note: "sumOfRounded", shown, sum: sum.toFixed(), true: total }];
}

// the row of the first word under the mask: one key, so its weight is 1 whatever the logit says
function firstRow(working: Working, a: Address): Note[] {
  if (!working.state.causal || a.row !== 0 || a.col !== 0) return [];
  return [{ note: "firstRow", logit: value(working, at("logits", 0, 0, a.head)) }];
}

// e^0.445 = 1.560490…: whoever rounds twice (1.5605 → 1.561) gets a wrong last digit
function closeExponential(working: Working, a: Address): Note[] {
  const logit = value(working, { ...a, stage: "logits" });
  return toFloat(logit) === 0.445 ? [{ note: "closeExponential", power: logit, value: Math.exp(0.445) }] : [];
}

function termsDisagree(working: Working, a: Address, digits: number): boolean {
  const r = recipe(working.state, a);
  if (cell(working, a).computed !== null) return false;
  const terms = r.kind === "sum" ? r.terms.map((t) => value(working, t)) : null;
  if (terms === null || terms.some((t) => !Number.isFinite(toFloat(t)) || toFloat(t) > 1e6)) return false;
  const rounded = terms.map((t) => new Big(toFloat(t)).round(digits, Big.roundHalfUp));
  const total = new Big(toFloat(value(working, a))).round(digits, Big.roundHalfUp);
  return !rounded.reduce((s, t) => s.plus(t), new Big(0)).eq(total);
}

// a number that decimals give exactly, so that its float64 digits are the machine's doing
function isDecimal(working: Working, a: Address): boolean {
  const exact = cell(compute(working.state), a).value;
  return typeof exact !== "number" && String(toFloat(cell(working, a).value)) !== exact.toFixed();
}

export interface Experiment {
  readonly scale: "sqrt" | "none" | "times10";
  readonly weights: readonly Num[];
}

/** The same row with the scores divided, not divided, and ten times larger: three different experiments. */
export function experiments(working: Working, query: number, head: number): Experiment[] {
  return (["sqrt", "none", "times10"] as const).map((scale) => {
    const other = compute(setScale(working.state, scale), { binary: working.binary });
    return { scale, weights: working.state.words.map((_, j) => value(other, at("probs", query, j, head))) };
  });
}
