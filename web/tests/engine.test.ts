// The engine against the numbers of the worked examples; the arithmetic stands beside the number.
import { describe, expect, it } from "vitest";
import { at, id, parseId } from "../src/engine/address";
import { cell, compute, floats, value } from "../src/engine/compute";
import { isExact, list, parse, percent, plainText, show, toFloat } from "../src/engine/decimal";
import {
  addWord,
  reattach,
  removeWord,
  setCausal,
  setHeads,
  setNumber,
  setScale,
  setSubtractMax,
  setWord,
  type Outcome,
} from "../src/engine/edit";
import { push, redo, start, undo } from "../src/engine/history";
import { experiments, notesOf } from "../src/engine/notes";
import { numpyProgram } from "../src/engine/numpy";
import { readoutOf } from "../src/byhand/describe";
import { latexOf, latexOfRow, textOf } from "../src/engine/render";
import { initial, type State } from "../src/engine/state";

const PAPER = initial("paper");
const PUB = initial("pub");
const EN = { digits: 3, lang: "en" } as const;
const CS = { digits: 3, lang: "cs" } as const;

function ok(outcome: Outcome): State {
  if ("fault" in outcome) throw new Error(outcome.fault.rule);
  return outcome.state;
}

function near(numbers: readonly number[] | undefined, wanted: readonly number[], decimals = 6): void {
  expect(numbers?.length).toBe(wanted.length);
  numbers?.forEach((n, i) => expect(n).toBeCloseTo(wanted[i] ?? NaN, decimals - 0.01));
}

/** Every number is an exact decimal, equal to what is wanted. */
function exactly(state: State, stage: "q" | "k" | "v" | "scores" | "scaled", rows: (string | number)[][]): void {
  const working = compute(state);
  rows.forEach((row, i) =>
    row.forEach((wanted, j) => {
      const n = value(working, at(stage, i, j));
      expect(isExact(n), `${stage} ${i},${j}`).toBe(true);
      expect(plainText(n)).toBe(String(wanted));
    }),
  );
}

describe("paper", () => {
  it("projects x into the q, k, v of the example, exactly", () => {
    exactly(PAPER, "q", [[1, 0, 0.5, 0], [0, 1, 0, 1], [0.9, 0.8, 0.2, 0.1]]);
    exactly(PAPER, "k", [[0.9, 0.1, 0.4, 0], [0, 1, 0, 0.9], [0.8, 0.9, 0.1, 0]]);
    exactly(PAPER, "v", [[0.2, 0.8, 0, 0.1], [0.7, 0.1, 0.3, 0], [0.1, 0.2, 0.9, 0.4]]);
  });
  it("row 3: .9·.9 + .8·.1 + .2·.4 + .1·0 = .97, halved .485, e^ = 1.624175, / 5.259746 = .308793", () => {
    const w = compute(PAPER);
    exactly(PAPER, "scores", [[1.1, 0, 0.85], [0.1, 1.9, 0.9], [0.97, 0.89, 1.46]]);
    exactly(PAPER, "scaled", [[0.55, 0, 0.425], [0.05, 0.95, 0.45], [0.485, 0.445, 0.73]]);
    near(floats(w, "exps")[2], [1.624175, 1.56049, 2.075081]);
    near(floats(w, "sums")[2], [5.259746]);
    near(floats(w, "probs")[2], [0.308793, 0.296685, 0.394521]);
    near(floats(w, "out")[2], [0.308891, 0.355608, 0.444075, 0.188688]);
    near(floats(w, "projected")[2], [0.154445, 0.577645, 0.222037, 0.343133]);
    near(floats(w, "result")[2], [1.154445, 1.577645, 0.222037, 0.343133]);
  });
  it("causal rows 1 and 2: the first sees itself alone, so its weights are exactly 1, 0, 0 and out is v", () => {
    const w = compute(PAPER);
    expect(floats(w, "probs")[0]).toEqual([1, 0, 0]);
    expect(isExact(value(w, at("probs", 0, 0)))).toBe(true);
    expect(floats(w, "out")[0]).toEqual([0.2, 0.8, 0, 0.1]);
    near(floats(w, "probs")[1], [0.28905, 0.71095, 0], 5);
    near(floats(w, "out")[1], [0.555475, 0.302335, 0.213285, 0.028905]);
  });
  it("without the mask the first word sees all three", () => {
    near(floats(compute(setCausal(PAPER, false)), "probs")[0], [0.406596, 0.234585, 0.358819]);
  });
  it("two heads of 2 divide by √2 and are joined", () => {
    const w = compute(setHeads(PAPER, 2));
    near(floats(w, "probs", 0)[2], [0.292936, 0.274875, 0.432189]);
    near(floats(w, "probs", 1)[2], [0.337205, 0.339598, 0.323198]);
    near(floats(w, "concat")[2], [0.294218, 0.348274, 0.392757, 0.163]);
    near(floats(w, "projected")[2], [0.147109, 0.544653, 0.196379, 0.310109]);
    near(floats(w, "result")[2], [1.147109, 1.544653, 0.196379, 0.310109]);
  });
  it("four heads of 1 divide by √1", () => {
    const w = compute(setHeads(PAPER, 4));
    // head 1, row 3: .9·.9, .9·0, .9·.8 = .81, 0, .72
    const [a, b, c] = [0.81, 0, 0.72].map(Math.exp) as [number, number, number];
    near(floats(w, "probs", 0)[2], [a, b, c].map((e) => e / (a + b + c)));
    expect(floats(w, "out", 3)).toHaveLength(3);
  });
  it("ten times the scores and no division are two experiments", () => {
    const w = compute(setScale(PAPER, "times10"));
    expect(floats(w, "logits")[2]).toEqual([4.85, 4.45, 7.3]);
    near(floats(w, "probs")[2], [0.075422, 0.050557, 0.874021]);
    near(floats(compute(setScale(PAPER, "none")), "probs")[2], [0.28126, 0.259635, 0.459105]);
    const three = experiments(compute(PAPER), 2, 0).map((e) => e.weights.map(toFloat));
    near(three[2], [0.075422, 0.050557, 0.874021]);
    near(three[1], [0.28126, 0.259635, 0.459105]);
  });
  it("subtracting the row maximum changes no weight", () => {
    const w = compute(setSubtractMax(PAPER, true));
    expect(plainText(value(w, at("exps", 2, 2)))).toBe("1"); // e^(.73 − .73)
    near(floats(w, "probs")[2], [0.308793, 0.296685, 0.394521]);
  });
});

describe("pub", () => {
  const percents = (w: ReturnType<typeof compute>, row: number): number[] =>
    (floats(w, "probs")[row] ?? []).map((p) => p * 100);
  it("gives the weights of the example without a mask", () => {
    const w = compute(PUB);
    near(percents(w, 0), Array(6).fill(16.6667), 4);
    near(percents(w, 5), Array(6).fill(16.6667), 4);
    for (const row of [1, 3]) near(percents(w, row), [1.0524, 1.0524, 94.7378, 1.0524, 1.0524, 1.0524], 4);
    near(percents(w, 2), [32.9671, 32.9671, 0.3662, 32.9671, 0.3662, 0.3662], 4);
    near(percents(w, 4), [1.0152, 1.0152, 1.0152, 1.0152, 4.55, 91.389], 4);
  });
  it("gives the weights of the example under the causal mask", () => {
    const w = compute(setCausal(PUB, true));
    expect(percents(w, 0)).toEqual([100, 0, 0, 0, 0, 0]);
    near(percents(w, 1), [50, 50, 0, 0, 0, 0], 4);
    near(percents(w, 2), [49.7238, 49.7238, 0.5524, 0, 0, 0], 4);
    near(percents(w, 3), [1.0751, 1.0751, 96.7748, 1.0751, 0, 0], 4);
    near(percents(w, 4), [11.7901, 11.7901, 11.7901, 11.7901, 52.8396, 0], 4);
    near(percents(w, 5), Array(6).fill(16.6667), 4);
  });
  it("says where a word looks: vypil at pan, švejk and pivo, 33 % each; pan at all equally", () => {
    const w = compute(PUB);
    expect(readoutOf(w, 2, 0, "cs")).toBe("dívá se hlavně na: pan 33\u00a0%, švejk 33\u00a0%, pivo 33\u00a0%");
    expect(readoutOf(w, 0, 0, "en")).toBe("looks at all equally (6 × 16.7\u00a0%)");
    expect(readoutOf(compute(setCausal(PUB, true)), 0, 0, "cs")).toBe("vidí jen sebe");
  });
});

describe("numbers", () => {
  it("stay exact decimals where a float64 would not: .8 − .5 = .3, .72 + .72 + .02 = 1.46", () => {
    const binary = compute(PAPER, { binary: true });
    expect(value(binary, at("v", 1, 2))).toBe(0.30000000000000004);
    expect(value(binary, at("scores", 2, 2))).toBe(1.4600000000000002);
    expect(plainText(value(compute(PAPER), at("v", 1, 2)))).toBe("0.3");
    expect(notesOf(binary, at("scores", 2, 2), "binary")).toContainEqual({ note: "float", text: "1.4600000000000002" });
  });
  it("are read with a comma or a point, and a wrong one says which rule it breaks", () => {
    expect(["0,5", ".5", "−,5", " 2 ", "1.", "+3"].map((t) => String(parse(t)))).toEqual(["0.5", "0.5", "-0.5", "2", "1", "3"]);
    expect(["", "1;2", "1.2.3", "x", "1e3", "1000001", "0.1234567890123", "9".repeat(50)].map((t) => parse(t))).toEqual([
      "empty", "several", "several", "letters", "letters", "large", "fine", "large",
    ]);
  });
  it("show an exact one as it is and a rounded one with all its digits, halves up", () => {
    const [exact, half] = [parse("0.97"), parse("0.485")];
    if (typeof exact === "string" || typeof half === "string") throw new Error("not read");
    expect(show(exact, 3, "cs")).toBe("0,97");
    expect(show(half, 2, "en")).toBe("0.49");
    expect(show(0.73, 3, "en")).toBe("0.730");
    expect(show(Math.exp(0.445), 3, "en")).toBe("1.560");
    expect(show(-0.0001, 3, "en")).toBe("0.000");
    expect(show(-0.5, 3, "en")).toBe("−0.500");
    expect(show(-Infinity, 3, "cs")).toBe("−∞");
    expect(show(Math.exp(30), 2, "en")).toBe("1.07·10¹³");
    expect([0.004, 0.3333, 0.9996, 1].map((p) => percent(p, "cs"))).toEqual([
      "<\u00a01\u00a0%",
      "33\u00a0%",
      ">\u00a099\u00a0%",
      "100\u00a0%",
    ]);
    expect(list(["0,309", "0,297"], "cs")).toBe("0,309; 0,297");
  });
  it("tell that rounded weights need not add up to 1: .309 + .297 + .395 = 1.001", () => {
    expect(notesOf(compute(PAPER), at("probs", 2, 0), 3)).toContainEqual(
      expect.objectContaining({ note: "sumOfRounded", shown: ["0.309", "0.297", "0.395"], sum: "1.001" }),
    );
    expect(notesOf(compute(PAPER), at("exps", 2, 1), 3)).toContainEqual(expect.objectContaining({ note: "closeExponential" }));
    expect(notesOf(compute(PAPER), at("probs", 0, 0), 3)).toContainEqual(expect.objectContaining({ note: "firstRow" }));
  });
  it("survive scores that exp cannot hold, by subtracting the row maximum, and say so", () => {
    const q = ok(setNumber(PUB, at("q", 1, 3), "1000"));
    const w = compute(q); // 1000 · 3 / √4 = 1500 > 709
    expect(w.forced).toBe(true);
    near(floats(w, "probs")[1], [0, 0, 1, 0, 0, 0]);
    near(floats(compute(ok(setNumber(q, at("k", 0, 3), "1000"))), "probs")[2], [0.329671, 0.329671, 0.003662, 0.329671, 0.003662, 0.003662]);
  });
});

describe("editing", () => {
  it("changes everything to the right and nothing to the left", () => {
    const state = ok(setNumber(PAPER, at("x", 2, 1), "0,5"));
    const w = compute(state); // q3 = x3 W_Q = [.9, .4, .2, .05]
    near(floats(w, "q")[2], [0.9, 0.4, 0.2, 0.05]);
    expect(floats(w, "q")[0]).toEqual(floats(compute(PAPER), "q")[0]);
  });
  it("detaches a number in the middle: it no longer follows, what is right of it does", () => {
    const a = at("scores", 2, 0);
    const state = ok(setNumber(PAPER, a, "2"));
    const w = compute(ok(setNumber(state, at("x", 2, 0), "5")));
    expect(plainText(value(w, a))).toBe("2");
    expect(cell(w, a).computed === null).toBe(false);
    expect(toFloat(value(w, at("scaled", 2, 0)))).toBe(1);
    expect(plainText(value(compute(reattach(state, a)), a))).toBe("0.97");
  });
  it("hides a key with −∞ in the logits only, and a row without keys looks at nothing", () => {
    let state = setCausal(PAPER, true);
    state = ok(setNumber(state, at("logits", 0, 0), "−∞"));
    const w = compute(state);
    expect(floats(w, "probs")[0]).toEqual([0, 0, 0]);
    expect(floats(w, "out")[0]).toEqual([0, 0, 0, 0]);
    expect(readoutOf(w, 0, 0, "en")).toBe("may see nothing");
    expect(setNumber(PAPER, at("scores", 0, 0), "-inf")).toEqual({ fault: { rule: "infinite" } });
  });
  it("refuses what a stage cannot hold", () => {
    expect(setNumber(PAPER, at("exps", 0, 0), "-1")).toEqual({ fault: { rule: "negative" } });
    expect(setNumber(PAPER, at("sums", 0, 0), "0")).toEqual({ fault: { rule: "zero" } });
    expect(setNumber(PAPER, at("probs", 0, 0), "1,5")).toEqual({ fault: { rule: "share" } });
    for (const blank of ["  ", "", "\u200b", "\u00a0"]) {
      expect(setWord(PAPER, 0, blank)).toEqual({ fault: { rule: "word" } });
    }
    expect(setWord(PAPER, 0, "a".repeat(25))).toEqual({ fault: { rule: "longWord" } });
  });
  it("adds words up to 8 and removes them down to 2, and edits move with their rows", () => {
    let state = ok(setNumber(PAPER, at("scores", 2, 1), "3"));
    state = ok(removeWord(state, 0));
    expect(Object.keys(state.edits)).toEqual(["scores.0.1.0"]);
    expect(removeWord(state, 0)).toEqual({ fault: { rule: "fewest" } });
    for (let n = 3; n <= 8; n++) state = ok(addWord(state, `w${n}`));
    expect(addWord(state, "w9")).toEqual({ fault: { rule: "most" } });
    expect(floats(compute(state), "probs")).toHaveLength(8);
    expect(readoutOf(compute(ok(addWord(setCausal(PUB, false), "nové"))), 6, 0, "en")).toContain("at all equally");
  });
  it("keeps a gloss only beside the word it translates", () => {
    const state = ok(setWord(PAPER, 0, "pes"));
    expect(state.words[0]).toEqual({ text: "pes", gloss: "" });
    expect(ok(setWord(state, 0, "kočka")).words[0]).toEqual({ text: "kočka", gloss: "cat" });
  });
  it("drops the edits inside heads when the number of heads changes, and undo brings them back", () => {
    const edited = ok(setNumber(ok(setNumber(PAPER, at("scores", 2, 1), "3")), at("q", 0, 0), "2"));
    let history = push(start(edited), setHeads(edited, 2));
    expect(Object.keys(history.now.edits)).toEqual(["q.0.0.0"]);
    history = undo(history);
    expect(history.now).toBe(edited);
    expect(redo(history).now.heads).toBe(2);
    expect(undo(undo(history)).now).toBe(edited);
  });
  it("writes and reads places", () => {
    expect(parseId(id(at("scores", 2, 0, 1)))).toEqual(at("scores", 2, 0, 1));
    expect(["scores.0.2", "constructor.0.0.0", "x.0.0.99", ""].map(parseId)).toEqual([null, null, null, null]);
  });
});

describe("the same, otherwise", () => {
  it("as a sum, term by term", () => {
    expect(textOf(compute(PAPER), at("scores", 2, 0), EN)).toBe(
      "score[3,1] = q[3] · k[1] = 0.9 · 0.9 + 0.8 · 0.1 + 0.2 · 0.4 + 0.1 · 0 = 0.81 + 0.08 + 0.08 + 0 = 0.97",
    );
    expect(textOf(compute(PAPER), at("probs", 2, 0), CS)).toBe("p[3,1] = exp[3,1] / sum[3] ≐ 1,624 / 5,260 ≐ 0,309");
    expect(textOf(compute(PAPER), at("scaled", 2, 0), CS)).toBe("scaled[3,1] = 0,97 / √4 = 0,97 / 2 = 0,485");
  });
  it("as LaTeX, with the Czech comma braced", () => {
    expect(latexOf(compute(PAPER), at("exps", 2, 1), CS)).toContain("e^{0{,}445}\n  \\doteq 1{,}560");
    expect(latexOfRow(compute(PAPER), 2, 0, EN)).toMatch(/^\\begin\{align\*\}\n {2}\\mathrm\{score\}_\{3,1\} &= /);
  });
  it("as a program that no word can leave", () => {
    const state = ok(setWord(PAPER, 0, '"]; import os #\\'));
    const remarks = { edited: "edited", mask: "mask", max: "max", empty: "empty" };
    expect(numpyProgram(state, remarks)).toContain('words = ["\\"]; import os #\\\\", "spí", "venku"]');
  });
});
