// The engine against the Python reference on random examples; tests/browser/engine_cases.py writes the cases.
import { expect, it } from "vitest";
import { compute, floats } from "../src/engine/compute";
import { fromJson, fromQuery, toJson, toQuery } from "../src/engine/share";
import type { State } from "../src/engine/state";
import cases from "./engine_cases.json";

const TOLERANCE = 1e-12; // relative to the largest number of the case

interface Case {
  state: unknown;
  probs: number[][][];
  out?: number[][][];
  result?: number[][];
}

function read(text: string): State {
  const found = fromJson(text);
  if ("refusal" in found) throw new Error(JSON.stringify(found.refusal));
  return found.state;
}

function largestDifference(got: readonly number[], want: readonly number[]): number {
  expect(got.length).toBe(want.length);
  const size = Math.max(1, ...want.map(Math.abs));
  return Math.max(0, ...got.map((n, i) => (Number.isFinite(n) ? Math.abs(n - (want[i] ?? NaN)) / size : Infinity)));
}

it.each((cases as Case[]).map((c, i) => [i, c] as const))("case %i", (_, { state, probs, out, result }) => {
  const read_ = read(JSON.stringify(state));
  for (const binary of [false, true]) {
    const working = compute(read_, { binary });
    probs.forEach((want, head) => {
      expect(largestDifference(floats(working, "probs", head).flat(), want.flat())).toBeLessThan(TOLERANCE);
    });
    out?.forEach((want, head) => {
      expect(largestDifference(floats(working, "out", head).flat(), want.flat())).toBeLessThan(TOLERANCE);
    });
    if (result !== undefined) {
      expect(largestDifference(floats(working, "result").flat(), result.flat())).toBeLessThan(TOLERANCE);
    }
  }
  // and both ways of passing a state on give it back
  expect(read(toJson(read_))).toEqual(read_);
  expect(fromQuery(read_.kind, new URLSearchParams(toQuery(read_).toString()))).toEqual({ state: read_ });
});

it("can fail", () => {
  expect(largestDifference([0.5], [0.5 + 1e-9])).toBeGreaterThan(TOLERANCE);
  expect(largestDifference([NaN], [0.5])).toBe(Infinity);
});
