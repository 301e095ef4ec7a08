// The engine of the single file, in WASM and in JavaScript, against the formula written out here in float64.
import { beforeAll, describe, expect, it, vi } from "vitest";
import { Attention, type Arrays, type Steps } from "../src/file/engine/attention";
import { make, blockOf } from "../src/file/engine/base";
import { ROWS, type Kernel } from "../src/file/engine/kernel";
import { PlainKernel } from "../src/file/engine/plain";
import { causal, everything, SightByCells, SightByRanges, type Sight } from "../src/file/engine/sight";
import { fromBase, fromCells, payload, reduced } from "../src/file/engine/tile";
import { wasmKernel } from "../src/file/engine/wasm";

vi.setConfig({ testTimeout: 60_000 }); // both engines go over every cell; other work may be under way

/** Park and Miller's generator: the same numbers in every run. */
function numbers(count: number, seed: number, size = 1): Float32Array {
  let state = seed;
  return Float32Array.from({ length: count }, () => {
    state = (state * 16_807) % 2_147_483_647;
    return (state / 2_147_483_647 - 0.5) * 2 * size;
  });
}

function done<Result>(steps: Steps<Result>): Result {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

interface Case {
  name: string;
  queries: number;
  keys: number;
  sight: (queries: number, keys: number) => Sight;
  change?: Partial<Arrays>;
  size?: number;
}

const window = (queries: number, keys: number): Sight => {
  const starts = Int32Array.from({ length: queries }, (_, i) => Math.max(0, i - 20));
  const stops = Int32Array.from({ length: queries }, (_, i) => Math.min(keys, i + 1));
  return new SightByRanges(queries, keys, { count: 1, starts, stops }, null);
};
const padded = (queries: number, keys: number): Sight => {
  const shown = new Uint8Array(Math.ceil(keys / 8)).fill(0b0101_1011);
  const ranges = { count: 2, starts: new Int32Array(2 * queries), stops: new Int32Array(2 * queries) };
  for (let i = 0; i < queries; i++) {
    ranges.stops[i] = 30;
    ranges.starts[queries + i] = 50;
    ranges.stops[queries + i] = Math.max(50, Math.min(keys, 50 + i));
  }
  return new SightByRanges(queries, keys, ranges, shown);
};
const scattered = (queries: number, keys: number): Sight => {
  const line = Math.ceil(keys / 8);
  return new SightByCells(queries, keys, Uint8Array.from({ length: queries * line }, (_, i) => (i * 37) & 255));
};

const cases: Case[] = [
  { name: "nothing hidden", queries: 37, keys: 91, sight: everything },
  { name: "causal with an offset", queries: 70, keys: 83, sight: (q, k) => causal(q, k, 13) },
  { name: "causal, the first rows seeing nothing", queries: 40, keys: 40, sight: (q, k) => causal(q, k, -5) },
  { name: "window", queries: 90, keys: 90, sight: window },
  { name: "padding in two ranges", queries: 65, keys: 130, sight: padded },
  { name: "any mask", queries: 33, keys: 70, sight: scattered },
  { name: "softcap and sink", queries: 40, keys: 40, sight: (q, k) => causal(q, k, 0), change: { softcap: 3, sink: 0.7 } },
  { name: "large logits", queries: 40, keys: 64, sight: everything, size: 12 },
  { name: "one number a head", queries: 20, keys: 20, sight: everything, change: { dim: 1 } },
];

/** The matrix by its definition. */
function matrix(arrays: Arrays, sight: Sight): { probs: number[][]; seen: boolean[][]; lse: number[]; entropy: number[] } {
  const found = { probs: [] as number[][], seen: [] as boolean[][], lse: [] as number[], entropy: [] as number[] };
  for (let i = 0; i < sight.queries; i++) {
    const seen = Array.from({ length: sight.keys }, (_, j) => sight.sees(i, j));
    const logits = seen.map((_, j) => {
      let dot = 0;
      for (let d = 0; d < arrays.dim; d++) dot += arrays.q[i * arrays.dim + d]! * arrays.k[j * arrays.dim + d]!;
      const score = dot * arrays.scale;
      return arrays.softcap === null ? score : arrays.softcap * Math.tanh(score / arrays.softcap);
    });
    const top = Math.max(arrays.sink ?? -Infinity, ...logits.filter((_, j) => seen[j]));
    let sum = arrays.sink === null ? 0 : Math.exp(arrays.sink - top);
    logits.forEach((logit, j) => (sum += seen[j] === true ? Math.exp(logit - top) : 0));
    const lse = top === -Infinity ? -Infinity : top + Math.log(sum);
    const probs = logits.map((logit, j) => (seen[j] === true ? Math.exp(logit - lse) : 0));
    found.seen.push(seen);
    found.lse.push(lse);
    found.probs.push(probs);
    found.entropy.push(probs.reduce((bits, p) => (p > 0 ? bits - p * Math.log(p) : bits), 0));
  }
  return found;
}

function near(found: number, wanted: number, by: number): void {
  if (Number.isNaN(wanted)) return expect(found).toBeNaN();
  expect(Math.abs(found - wanted), `${found} for ${wanted}`).toBeLessThanOrEqual(by);
}

let wasm: Kernel;
beforeAll(async () => {
  const found = await wasmKernel();
  if (found === null) throw new Error("no WASM here");
  wasm = found;
});

describe.each(["wasm", "js"] as const)("engine in %s", (kind) => {
  describe.each(cases)("$name", ({ queries, keys, sight: sightOf, change, size }) => {
    let head: Attention;
    let kernel: Kernel;
    let want: ReturnType<typeof matrix>;
    const weight = numbers(keys, 5, 3).map(Math.abs);

    beforeAll(() => {
      kernel = kind === "wasm" ? wasm : new PlainKernel();
      const dim = change?.dim ?? 24;
      const arrays: Arrays = {
        q: numbers(queries * dim, 11, size), k: numbers(keys * dim, 23, size), dim, scale: 0.4, softcap: null, sink: null, vNorm: weight, probs: null,
        ...change,
      }; // prettier-ignore
      const sight = sightOf(queries, keys);
      head = new Attention(arrays, sight, kernel, () => kernel.load(arrays.k, arrays.vNorm, arrays.dim, keys), null);
      want = matrix(arrays, sight);
    });

    it("gives every cell, entropy and what keys receive", () => {
      for (const panel of head.panels([...Array(queries).keys()], 0, keys, 1)) {
        expect(panel.rows.length).toBeLessThanOrEqual(ROWS);
        const { values, stride } = kernel.panel();
        panel.rows.forEach((row, i) => {
          for (let j = 0; j < panel.keys; j++) {
            const key = panel.firstKey + j;
            if (want.seen[row]![key] === true) near(values[i * stride + j]!, want.probs[row]![key]!, 1e-12);
          }
          near(head.entropy[row]!, want.entropy[row]!, 1e-11);
        });
      }
      const { received } = done(make(head, kernel, false, 1));
      for (let j = 0; j < keys; j++) {
        const seen = want.seen.filter((row) => row[j] === true).length;
        const sum = want.probs.reduce((total, row) => total + row[j]!, 0);
        near(received[j]!, seen === 0 ? NaN : sum / seen, 1e-6); // float32
      }
    });

    it("gives rows, columns and lse", () => {
      for (const row of [0, 3, queries - 1]) {
        const found = head.row(row);
        want.probs[row]!.forEach((p, key) => near(found.probs[key]!, p, 1e-14));
        expect(Array.from(found.visible, Boolean)).toEqual(want.seen[row]);
        if (want.lse[row] === -Infinity) expect(found.lse).toBe(-Infinity);
        else near(found.lse, want.lse[row]!, 1e-12);
        near(head.cell(row, 1), want.probs[row]![1]!, 1e-12);
      }
      const lse = done(head.allLse());
      want.lse.forEach((one, row) => (one === -Infinity ? expect(lse[row]).toBe(-Infinity) : near(lse[row]!, one, 1e-12)));
    });

    it("re-normalises a row without hidden keys", () => {
      const row = queries - 1;
      const [first] = want.seen[row]!.map((seen, key) => (seen && want.probs[row]![key]! < 0.9 ? key : -1)).filter((key) => key >= 0);
      const found = head.row(row, new Set([first!]));
      expect(found.probs[first!]).toBe(0);
      const left = 1 - want.probs[row]![first!]!;
      want.probs[row]!.forEach((p, key) => (key === first ? undefined : near(found.probs[key]!, p / left, 1e-12)));
    });

    it.each([0, 1, 3])("gives tiles of zoom %i", (zoom) => {
      for (const weighted of [false, true]) {
        const squares = done(fromCells(head, kernel, weighted, { zoom, row: 0, column: 0 }));
        check(squares, want, 2 ** zoom, weighted ? weight : null);
      }
    });

    it("gives coarse tiles from its base", () => {
      expect(blockOf(queries, keys)).toBe(16);
      for (const weighted of [false, true]) {
        const { base } = done(make(head, kernel, weighted, 1));
        for (const zoom of [4, 6]) check(fromBase(base, { zoom, row: 0, column: 0 }), want, 2 ** zoom, weighted ? weight : null);
      }
    });

    it("gives a preview of every 16th row", () => {
      const { base } = done(make(head, kernel, false, 16));
      const some = { probs: want.probs.filter((_, i) => i % 16 === 0), seen: want.seen.filter((_, i) => i % 16 === 0) };
      some.probs.forEach((row, line) => {
        for (let block = 0; block < base.across; block++) {
          const part = row.slice(16 * block, 16 * block + 16);
          near(base.most[line * base.across + block]!, Math.max(0, ...part), 1e-6);
          expect(base.seen[line * base.across + block]).toBe(some.seen[line]!.slice(16 * block, 16 * block + 16).filter(Boolean).length);
        }
      });
    });
  });

  it("takes probs as they are", async () => {
    const kernel = kind === "wasm" ? await wasmKernel() : new PlainKernel(); // nothing was loaded before
    if (kernel === null) throw new Error("no WASM here");
    const probs = numbers(20 * 30, 3).map(Math.abs);
    const none = new Float32Array(0);
    const arrays: Arrays = { q: none, k: none, dim: 0, scale: 1, softcap: null, sink: null, vNorm: null, probs };
    const head = new Attention(arrays, everything(20, 30), kernel, () => kernel.load(none, null, 0, 30), null);
    const squares = done(fromCells(head, kernel, false, { zoom: 0, row: 0, column: 0 }));
    expect(Array.from(squares.most)).toEqual(Array.from(probs));
    expect(Array.from(head.row(4).probs)).toEqual(Array.from(probs.subarray(120, 150)));
  });

  it("shows a NaN that can be seen, and keeps one that is hidden from everything", () => {
    const kernel = kind === "wasm" ? wasm : new PlainKernel();
    const arrays: Arrays = { q: numbers(8 * 8, 1), k: numbers(8 * 8, 2), dim: 8, scale: 1, softcap: null, sink: null, vNorm: null, probs: null };
    arrays.k[5 * 8] = NaN;
    const head = new Attention(arrays, causal(8, 8, 0), kernel, () => kernel.load(arrays.k, null, 8, 8), null);
    const squares = done(fromCells(head, kernel, false, { zoom: 0, row: 0, column: 0 }));
    for (let i = 0; i < 8; i++) {
      for (let j = 0; j <= i; j++) expect(Number.isNaN(squares.most[i * 8 + j]!), `${i} ${j}`).toBe(i >= 5);
    }
    const coarse = done(fromCells(head, kernel, false, { zoom: 2, row: 0, column: 0 }));
    expect(Array.from(coarse.most, Number.isNaN)).toEqual([false, false, true, true]);
  });
});

function check(squares: ReturnType<typeof fromBase>, want: ReturnType<typeof matrix>, side: number, weight: Float32Array | null): void {
  const [queries, keys] = [want.probs.length, want.probs[0]!.length];
  const states = new Uint8Array(payload(squares, "max"), 256 * 256 * 4);
  for (let i = 0; i < Math.ceil(queries / side); i++) {
    const rows = [...Array(Math.min(side, queries - i * side)).keys()].map((row) => row + i * side);
    const seeing = rows.filter((row) => want.seen[row]!.some(Boolean)).length;
    for (let j = 0; j < Math.ceil(keys / side); j++) {
      const cells: number[] = [];
      for (const row of rows) {
        for (let key = j * side; key < Math.min(keys, (j + 1) * side); key++) {
          if (want.seen[row]![key] === true) cells.push(want.probs[row]![key]! * (weight?.[key] ?? 1));
        }
      }
      const at = i * squares.across + j;
      expect(states[i * 256 + j]).toBe(cells.length > 0 ? 0 : 1);
      if (cells.length === 0) continue;
      const sum = cells.reduce((total, p) => total + p, 0);
      near(reduced(squares, at, "max"), Math.max(...cells), 1e-6);
      near(reduced(squares, at, "mean"), sum / cells.length, 1e-6);
      near(reduced(squares, at, "share"), sum / seeing, 2e-6);
    }
  }
}
