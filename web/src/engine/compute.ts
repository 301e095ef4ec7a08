// From a state to every number of the line, left to right: Q = x W_Q … result = concat W_O + x.
import Big from "big.js";
import { at, id, PER_HEAD, type Address, type Stage } from "./address.ts";
import { add, isExact, isZero, multiply, ONE, toFloat, ZERO, type Num } from "./decimal.ts";
import { recipe, type Recipe } from "./recipe.ts";
import { headDim, WIDTH, type Kind, type State } from "./state.ts";

export interface Cell {
  readonly value: Num;
  readonly computed: Num | null; // what it would be, where the number was edited in the middle; else null
}

export interface Working {
  readonly state: State;
  readonly binary: boolean; // float64 throughout, products and sums too
  readonly shifted: boolean; // the row maximum is subtracted before exp
  readonly forced: boolean; // … because exp would overflow or vanish without it
  readonly cells: ReadonlyMap<string, Cell>;
}

/** The order of the line. Pub starts at q and k, and ends at probs, because its V is the identity. */
export const LINE: Readonly<Record<Kind, readonly Stage[]>> = {
  paper: [
    ...(["x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled", "logits", "exps", "sums", "probs"] as const),
    ...(["out", "concat", "w_o", "projected", "result"] as const),
  ],
  pub: ["q", "k", "scores", "scaled", "logits", "exps", "sums", "probs"],
};

const LARGEST_EXPONENT = 700; // exp(709.8) is the largest float64

export function shape(state: State, stage: Stage): readonly [rows: number, cols: number] {
  const n = state.words.length;
  if (stage === "sums") return [n, 1];
  if (stage === "out") return [n, headDim(state)];
  if (stage.startsWith("w_")) return [WIDTH, WIDTH];
  return PER_HEAD.has(stage) ? [n, n] : [n, WIDTH];
}

const made = new Map<string, readonly (readonly Address[])[]>(); // a few shapes a stage; the same objects each time

export function addresses(state: State, stage: Stage, head = 0): readonly (readonly Address[])[] {
  const [rows, cols] = shape(state, stage);
  const name = `${stage} ${head} ${rows} ${cols}`;
  const known = made.get(name);
  if (known !== undefined) return known;
  const fresh = Array.from({ length: rows }, (_, r) => Array.from({ length: cols }, (_, c) => at(stage, r, c, head)));
  made.set(name, fresh);
  return fresh;
}

/** `before`: an earlier working; a cell that is as it was there is the same object, so that what hangs on it rests. */
export function compute(state: State, options: { binary?: boolean; before?: Working | null } = {}): Working {
  const binary = options.binary ?? false;
  const plain = run(state, binary, state.subtractMax);
  const forced = !state.subtractMax && needsShift(plain, state);
  return {
    state,
    binary,
    shifted: state.subtractMax || forced,
    forced,
    cells: kept(forced ? run(state, binary, true) : plain, options.before?.cells),
  };
}

export function cell(working: Working, a: Address): Cell {
  const found = working.cells.get(id(a));
  if (found === undefined) throw new RangeError(`no number stands at ${id(a)}`);
  return found;
}

export function value(working: Working, a: Address): Num {
  return cell(working, a).value;
}

/** The numbers of a stage (of one head) as float64. */
export function floats(working: Working, stage: Stage, head = 0): number[][] {
  return addresses(working.state, stage, head).map((row) => row.map((a) => toFloat(value(working, a))));
}

function kept(cells: Map<string, Cell>, before: ReadonlyMap<string, Cell> | undefined): Map<string, Cell> {
  for (const [key, old] of before ?? []) {
    const cell = cells.get(key);
    if (cell !== undefined && alike(cell.value, old.value) && alike(cell.computed, old.computed)) cells.set(key, old);
  }
  return cells;
}

function alike(a: Num | null, b: Num | null): boolean {
  if (a === null || b === null) return a === b;
  return isExact(a) && isExact(b) ? a.eq(b) : Object.is(a, b);
}

function run(state: State, binary: boolean, shift: boolean): Map<string, Cell> {
  const cells = new Map<string, Cell>();
  const get = (a: Address): Num => cells.get(id(a))?.value ?? Number.NaN;
  const lift = (n: Num): Num => (binary ? toFloat(n) : n);
  for (const stage of LINE[state.kind]) {
    for (let head = 0; head < (PER_HEAD.has(stage) ? state.heads : 1); head++) {
      for (const a of addresses(state, stage, head).flat()) {
        const given = state.given[stage]?.[a.row]?.[a.col];
        const edit = state.edits[id(a)];
        const computed =
          given === undefined ? evaluate(recipe(state, a), get, lift, shift) : lift(new Big(given));
        cells.set(id(a), edit === undefined ? { value: computed, computed: null } : { value: lift(edited(edit)), computed });
      }
    }
  }
  return cells;
}

function edited(text: string): Num {
  return text === "-inf" ? Number.NEGATIVE_INFINITY : new Big(text);
}

function evaluate(r: Recipe, get: (a: Address) => Num, lift: (n: Num) => Num, shift: boolean): Num {
  switch (r.kind) {
    case "given":
      return Number.NaN;
    case "dot":
      return r.pairs.map(([a, b]) => multiply(get(a), get(b))).reduce(add, lift(ZERO));
    case "scale":
      return scaled(get(r.from), r.scale, r.headDim);
    case "mask":
      return r.hidden ? Number.NEGATIVE_INFINITY : get(r.from);
    case "exp":
      return exponential(get(r.from), shift ? largest(r.row.map(get)) : ZERO);
    case "sum":
      return r.terms.map(get).reduce(add, ZERO);
    case "share":
      return share(get(r.part), get(r.whole), r.row.map(get));
    case "copy":
      return get(r.from);
    case "add":
      return add(get(r.terms[0]), get(r.terms[1]));
  }
}

/** √4 and √1 are whole, so these quotients are exact decimals too; √2 is not. */
export function scaled(score: Num, scale: State["scale"], dim: number): Num {
  if (scale === "none" || isZero(score)) return score;
  const root = Math.sqrt(dim);
  const divided = isExact(score) && Number.isInteger(root) ? score.div(root) : toFloat(score) / root;
  return scale === "times10" ? multiply(divided, isExact(divided) ? new Big(10) : 10) : divided;
}

export function largest(row: readonly Num[]): Num {
  return row.reduce((a, b) => (toFloat(b) > toFloat(a) ? b : a), Number.NEGATIVE_INFINITY);
}

function exponential(logit: Num, top: Num): Num {
  if (toFloat(logit) === Number.NEGATIVE_INFINITY) return ZERO;
  const power = isExact(logit) && isExact(top) ? logit.minus(top) : toFloat(logit) - toFloat(top);
  return isZero(power) ? ONE : Math.exp(toFloat(power));
}

// a row in which only one key is left gives it exactly 1; a row that sees nothing gives 0
function share(part: Num, whole: Num, row: readonly Num[]): Num {
  if (isZero(part) || toFloat(whole) === 0) return ZERO;
  const alone = row.filter((n) => !isZero(n)).length === 1 && toFloat(part) === toFloat(whole);
  return alone ? ONE : toFloat(part) / toFloat(whole);
}

function needsShift(cells: ReadonlyMap<string, Cell>, state: State): boolean {
  for (let head = 0; head < state.heads; head++) {
    for (const row of addresses(state, "logits", head)) {
      const top = toFloat(largest(row.map((a) => cells.get(id(a))?.value ?? Number.NaN)));
      if (top > LARGEST_EXPONENT || (top < -LARGEST_EXPONENT && top !== Number.NEGATIVE_INFINITY)) return true;
    }
  }
  return false;
}
