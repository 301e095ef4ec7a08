import { describe, expect, it } from "vitest";
import { carried, parseDerived, writeDerived, type Derived } from "../src/heads/derived";
import { exactAt, fitting } from "../src/heads/exact";
import { byLayer, entries, idOf, inOrder, moved, running, type Entry } from "../src/heads/order";
import { extent, picture } from "../src/heads/picture";
import { said } from "../src/heads/said";
import { Thumbnails, type LayerName } from "../src/heads/thumbnails";
import { pause } from "../src/heads/wait";
import type { Paint } from "../src/marks/painter";
import { parseAddress } from "../src/model/mapAddress";
import type { HeadLine, Kind, LayerDocument } from "../src/read/documents";
import type { Thumbs } from "../src/read/source";
import { range } from "../src/scales/transfer";

const layer = (number: number, heads: number[], kind: Kind = "self"): LayerDocument => ({
  layer: number,
  kind,
  heads,
  kv_heads: heads,
  head_dim: 4,
  v_head_dim: 4,
  scale: 0.5,
  fidelity: null,
  mask: "causal",
  value_norm: false,
});
const line = (layer: number, head: number, first: number | null, kind: Kind = "self"): HeadLine => ({
  layer,
  kind,
  head,
  kv_head: head,
  first,
  own: null,
  previous: null,
  entropy: null,
  distance: null,
  induction: null,
});
const names = (list: readonly Entry[]): string[] => list.map(idOf);

describe("combinations", () => {
  const all: [string, Derived][] = [
    ["mean:3.1,3.2", { how: "mean", heads: [{ layer: 3, head: 1 }, { layer: 3, head: 2 }] }],
    ["max:0.0", { how: "max", heads: [{ layer: 0, head: 0 }] }],
    ["minus:12.5", { how: "less", head: { layer: 12, head: 5 }, recording: null }],
    ["minus:12.5@a1b2", { how: "less", head: { layer: 12, head: 5 }, recording: "a1b2" }],
    ["minus:unmasked", { how: "masked" }],
  ];
  it.each(all)("%s is read and written", (text, derived) => {
    expect(parseDerived(text)).toEqual(derived);
    expect(writeDerived(derived)).toBe(text);
  });
  it.each(["", "mean:", "mean:3", "mean:3.1,", "mean:3.1,x", "minus:", "minus:12", "minus:masked", "sum:1.1", "max:-1.0"])(
    "%j is none",
    (text) => expect(parseDerived(text)).toBeNull(),
  );
  it("follows to another head where that has a meaning", () => {
    const [from, to] = [{ layer: 12, head: 5 }, { layer: 12, head: 6 }];
    expect(carried("mean:12.5,3.1", from, to)).toBe("");
    expect(carried("minus:unmasked", from, to)).toBe("minus:unmasked");
    expect(carried("minus:3.1", from, to)).toBe("minus:3.1");
    expect(carried("minus:12.6", from, to)).toBe(""); // less itself: nothing
    expect(carried("minus:12.5@x", from, to)).toBe("minus:12.6@x"); // the same head of the other recording
    expect(carried("minus:3.1@x", from, to)).toBe("minus:3.1@x");
  });
});

describe("order", () => {
  const layers = [layer(0, [0, 1]), layer(1, [0, 2]), layer(1, [0], "cross")];
  const measures = [line(0, 0, 0.5), line(0, 1, 0.25), line(1, 0, null), line(1, 2, 0.5), line(1, 0, 0.75, "cross")];
  const list = entries(layers, "first", measures, null);
  it("has every recorded head, known or not", () => {
    expect(names(list)).toEqual(["self 0.0", "self 0.1", "self 1.0", "self 1.2", "cross 1.0"]);
    expect(list.map(({ value }) => value)).toEqual([0.5, 0.25, null, 0.5, 0.75]);
    expect(entries(layers, "entropy", [], null).every(({ value }) => value === null)).toBe(true);
  });
  it("takes what is locked from the other answer", () => {
    const which = { query: 3, key: null, heads: [{ layer: 1, kind: "self" as const, head: 2, prob: 0.125, at: 4 }] };
    expect(entries(layers, "locked", measures, which).map(({ value }) => value)).toEqual([null, null, null, 0.125, null]);
  });
  it("sorts, equals by layer, unknown last in both directions", () => {
    expect(names(inOrder(list, "most"))).toEqual(["cross 1.0", "self 0.0", "self 1.2", "self 0.1", "self 1.0"]);
    expect(names(inOrder(list, "least"))).toEqual(["self 0.1", "self 0.0", "self 1.2", "cross 1.0", "self 1.0"]);
    expect(names(inOrder([...list].reverse(), "layer"))).toEqual(names(list));
  });
  it("lays layers down or across, with holes for heads that were not recorded", () => {
    const down = byLayer(list, false);
    expect(down.columns).toEqual(["0", "1", "2"]);
    expect(down.rows.map(({ name }) => name)).toEqual(["0", "1", "1×"]);
    expect(down.rows[1]?.cells.map((cell) => cell && idOf(cell))).toEqual(["self 1.0", null, "self 1.2"]);
    const across = byLayer(list, true);
    expect(across.columns).toEqual(["0", "1", "1×"]);
    expect(across.rows[2]?.cells.map((cell) => cell && idOf(cell))).toEqual([null, "self 1.2", null]);
  });
  it("runs on in lines", () => {
    expect(running(list, 2).rows.map(({ cells }) => cells.length)).toEqual([2, 2, 1]);
    expect(running([], 2).rows).toEqual([]);
    expect(running(list, 0).rows).toHaveLength(5);
  });
  it("moves by keys, over holes, and stays at the edges", () => {
    const grid = byLayer(list, false); // ■ ■ □ / ■ □ ■ / ■ □ □
    const to = (row: number, column: number, key: string, ctrl = false): number[] | null => {
      const found = moved(grid, { row, column }, key, ctrl);
      return found && [found.row, found.column];
    };
    expect(to(0, 0, "ArrowRight")).toEqual([0, 1]);
    expect(to(1, 0, "ArrowRight")).toEqual([1, 2]);
    expect(to(0, 1, "ArrowRight")).toEqual([0, 1]);
    expect(to(0, 1, "ArrowDown")).toEqual([0, 1]);
    expect(to(0, 0, "ArrowDown")).toEqual([1, 0]);
    expect(to(1, 2, "Home")).toEqual([1, 0]);
    expect(to(1, 0, "End")).toEqual([1, 2]);
    expect(to(1, 2, "End", true)).toEqual([2, 0]);
    expect(to(1, 2, "Home", true)).toEqual([0, 0]);
    expect(to(1, 2, "x")).toBeNull();
  });
});

describe("a small picture", () => {
  const table = new Uint8Array(256 * 4).map((_, i) => (i % 4 === 3 ? 255 : Math.floor(i / 4)));
  const paint: Paint = {
    table,
    range: range("linear", 1),
    mask: [1, 2, 3],
    maskLine: [0, 0, 0],
    odd: [9, 8, 7],
    onOdd: [0, 0, 0],
    paper: [0, 0, 0],
  };
  // 2 × 3 of 4 × 4 lie inside
  const states = Uint8Array.from([0, 1, 0, 2, 0, 0, 0, 2, 2, 2, 2, 2, 2, 2, 2, 2]);
  const values = Float32Array.from([0, 0, 0.5, 0, 1, NaN, Infinity, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  it("leaves out what is outside the matrix", () => {
    expect(extent(states, 4)).toEqual({ width: 3, height: 2 });
    expect(extent(new Uint8Array(16), 4)).toEqual({ width: 4, height: 4 });
  });
  it("has the colours of the map", () => {
    const { width, height, pixels } = picture(values, states, 4, paint);
    expect([width, height]).toEqual([3, 2]);
    const at = (i: number): number[] => [...pixels.slice(i * 4, i * 4 + 4)];
    expect([0, 1, 2, 3, 4, 5].map(at)).toEqual([
      [0, 0, 0, 255],
      [1, 2, 3, 255],
      [128, 128, 128, 255],
      [255, 255, 255, 255],
      [9, 8, 7, 255],
      [9, 8, 7, 255],
    ]);
  });
});

describe("exactness", () => {
  const map = { zooms: 9, exact: { max: 5, mean: 8, share: 8 } };
  it("says what is exact at a zoom", () => {
    expect(exactAt(map.exact, 5)).toEqual({ now: ["max", "mean", "share"], later: [] });
    expect(exactAt(map.exact, 6)).toEqual({ now: ["mean", "share"], later: ["max"] });
  });
  it("shows the whole with what is exact for it", () => {
    expect(fitting(map, "max")).toBe("mean");
    expect(fitting(map, "share")).toBe("share");
    expect(fitting({ zooms: 6, exact: map.exact }, "max")).toBe("max");
    expect(fitting({ zooms: 9, exact: { max: 8, mean: 5, share: 5 } }, "mean")).toBe("max");
    expect(fitting({ zooms: 9, exact: { max: 5, mean: 5, share: 5 } }, "mean")).toBe("mean");
  });
});

describe("numbers under heads", () => {
  it("are short and never a false zero", () => {
    expect(said(0.4321, "first", "en")).toBe("43\u00a0%");
    expect(said(0.04321, "first", "cs")).toBe("4,3\u00a0%");
    expect(said(0.0001, "locked", "en")).toBe("<0.1\u00a0%");
    expect(said(0, "locked", "en")).toBe("0.0\u00a0%");
    expect(said(2.345, "entropy", "cs")).toBe("2,35");
    expect([12.34, 99.96, 1234.5].map((one) => said(one, "distance", "en"))).toEqual(["12.3", "100", "1235"]);
  });
});

describe("thumbnails", () => {
  const thumbs: Thumbs = { side: 64, values: [], states: [], preview: false };
  const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));
  function fixture(): { asked: string[]; cancelled: string[]; answer: (layer: number, failure?: Error) => void; source: Thumbnails; failures: unknown[] } {
    const [asked, cancelled, failures]: [string[], string[], unknown[]] = [[], [], []];
    const waiting = new Map<number, (failure?: Error) => void>();
    const fetcher = ({ layer }: LayerName, signal: AbortSignal): Promise<Thumbs> =>
      new Promise((resolve, reject) => {
        asked.push(String(layer));
        waiting.set(layer, (failure) => (failure === undefined ? resolve(thumbs) : reject(failure)));
        signal.addEventListener("abort", () => cancelled.push(String(layer)));
      });
    const source = new Thumbnails(fetcher, () => undefined, (failure) => failures.push(failure), 2);
    return { asked, cancelled, answer: (layer, failure) => waiting.get(layer)?.(failure), source, failures };
  }
  const self = (...layers: number[]): LayerName[] => layers.map((one) => ({ kind: "self", layer: one }));

  it("asks for a few layers at once, in order, each once", async () => {
    const { asked, answer, source } = fixture();
    source.want(self(0, 1, 2));
    expect(asked).toEqual(["0", "1"]);
    answer(0);
    await settled();
    expect(asked).toEqual(["0", "1", "2"]);
    expect(source.get({ kind: "self", layer: 0 })).toBe(thumbs);
    source.want(self(0, 1, 2));
    expect(asked).toEqual(["0", "1", "2"]);
  });
  it("cancels what has left the sight", () => {
    const { asked, cancelled, source } = fixture();
    source.want(self(0, 1, 2));
    source.want(self(1, 3));
    expect(cancelled).toEqual(["0"]);
    expect(asked).toEqual(["0", "1", "3"]);
  });
  it("asks for a preview again until it is none, while it is in sight", async () => {
    let asked = 0;
    const source = new Thumbnails(async () => ({ ...thumbs, preview: (asked += 1) < 3 }), () => undefined, () => undefined, 2, 5);
    source.want(self(0));
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(asked).toBe(3);
    expect(source.get({ kind: "self", layer: 0 })?.preview).toBe(false);
  });
  it("does not ask again for what failed, and says so once", async () => {
    const { asked, answer, source, failures } = fixture();
    source.want(self(0));
    answer(0, new Error("no"));
    await settled();
    source.want(self(0));
    expect(asked).toEqual(["0"]);
    expect(failures).toHaveLength(1);
    expect(source.busy).toBe(false);
  });
});

describe("a pause", () => {
  it("ends, or is called off", async () => {
    await expect(pause(1, new AbortController().signal)).resolves.toBeUndefined();
    const abort = new AbortController();
    const waiting = pause(60_000, abort.signal);
    abort.abort();
    await expect(waiting).rejects.toThrow("called off");
    await expect(pause(1, abort.signal)).rejects.toThrow("called off");
  });
});

describe("the address", () => {
  it("knows the heads that are folded out", () => {
    expect(parseAddress(new URLSearchParams("heads=entropy&order=least"))).toMatchObject({ heads: "entropy", order: "least" });
    expect(parseAddress(new URLSearchParams("heads=all&order=up"))).toMatchObject({ heads: null, order: "layer" });
  });
});
