import { describe, expect, it } from "vitest";
import { command } from "../src/app/mapKeys";
import { DEFAULTS } from "../src/model/mapAddress";
import { inside, moved, neighbour, nextVariant, resolve, variantsOf } from "../src/model/mapMoves";
import type { LayerDocument, MapDocument, RecordingDocument } from "../src/read/documents";
import { count, decimal, exact, fine, percent, scientific } from "../src/words/numbers";
import { maskWords } from "../src/words/map";

const layer = (number: number, heads: number[], kind: "self" | "cross" = "self"): LayerDocument => ({
  layer: number,
  kind,
  heads,
  kv_heads: heads.map(() => 0),
  head_dim: 4,
  v_head_dim: 4,
  scale: 0.5,
  fidelity: null,
  mask: "causal",
  value_norm: false,
});
const recording = (layers: LayerDocument[]): RecordingDocument => ({
  card: {
    id: "a",
    version: "1",
    name: "a",
    path: "/a",
    error: null,
    model: "m",
    dtype: "float32",
    items: 2,
    tokens: 3,
    layers: layers.length,
    heads: 2,
    fidelity: null,
    shipped: false,
  },
  items: [
    { name: "one", tokens: 0 },
    { name: "two", tokens: 0 },
  ],
  layers,
});

describe("what an address means", () => {
  const some = recording([layer(3, [2, 5]), layer(7, [2, 5])]);
  it("opens at the first layer and head that were recorded", () => {
    const found = resolve(some, DEFAULTS);
    expect([found?.shown.layer.layer, found?.shown.head, found?.missing]).toEqual([3, 2, []]);
  });
  it("says what it asked for in vain, and shows something", () => {
    const found = resolve(some, { ...DEFAULTS, layer: 4, head: 5, item: 9 });
    expect([found?.shown.item, found?.shown.layer.layer, found?.shown.head]).toEqual([0, 3, 5]);
    expect(found?.missing).toEqual([
      { what: "item", asked: 9, used: 0 },
      { what: "layer", asked: 4, used: 3 },
    ]);
  });
  it("opens a recording of cross-attention without being told", () => {
    expect(resolve(recording([layer(0, [0], "cross")]), DEFAULTS)?.shown.layer.kind).toBe("cross");
    expect(resolve(recording([]), DEFAULTS)).toBeNull();
  });
  it("knows whether a locked cell is inside", () => {
    const map = { q_len: 2, kv_len: 5 } as MapDocument;
    expect(inside({ query: 1, key: 4 }, map)).toBe(true);
    expect(inside({ query: 2, key: null }, map)).toBe(false);
  });
});

describe("moves", () => {
  const size = { queries: 4, keys: 6 };
  const start = { query: 2, key: 3 };
  const nothing = { query: null, key: null };
  it("begins in the middle", () => {
    expect(moved(nothing, null, { query: 1, key: 0 }, size, start)).toEqual({ lock: nothing, point: start });
  });
  it("moves the crosshair and stops at the edge", () => {
    expect(moved(nothing, start, { query: 9, key: -1 }, size, start).point).toEqual({ query: 3, key: 2 });
  });
  it("moves a locked row, and the crosshair along it", () => {
    const row = { query: 1, key: null };
    expect(moved(row, null, { query: 1, key: 0 }, size, start).lock).toEqual({ query: 2, key: null });
    expect(moved(row, null, { query: 0, key: 1 }, size, start)).toEqual({ lock: row, point: { query: 1, key: 4 } });
  });
  it("takes the next layer or head of those recorded", () => {
    expect([neighbour([2, 5, 9], 5, 1), neighbour([2, 5, 9], 9, 1), neighbour([2, 5, 9], 2, -1)]).toEqual([9, 9, 2]);
  });
  it("goes round the masks that the map offers", () => {
    const offered = variantsOf({ variants: ["recorded", "unmasked", "causal"] });
    expect(offered).toEqual(["recorded", "causal", "unmasked"]);
    expect(nextVariant(offered, "unmasked")).toBe("recorded");
    expect(variantsOf(null)).toEqual(["recorded"]);
  });
});

describe("keys", () => {
  const press = (key: string, more: Partial<KeyboardEvent> = {}) => ({
    key,
    shiftKey: false,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    ...more,
  });
  it("leaves the browser's own keys and typing alone", () => {
    expect(command(press("l", { ctrlKey: true }), "page")).toBeNull();
    expect(command(press("l"), "typing")).toBeNull();
    expect(command(press("ArrowDown"), "control")).toBeNull();
    expect(command(press("Enter"), "control")).toBeNull();
  });
  it("moves with arrows, pans with Shift", () => {
    expect(command(press("ArrowDown"), "map")).toEqual({ do: "move", query: 1, key: 0 });
    expect(command(press("ArrowLeft", { shiftKey: true }), "map")).toEqual({ do: "pan", query: 0, key: -1 });
  });
  it("takes capitals too", () => {
    expect(command(press("R", { shiftKey: true }), "map")).toEqual({ do: "lock", what: "row" });
  });
});

describe("numbers", () => {
  it("are written as the language writes them", () => {
    expect([decimal(0.3085, 3, "cs"), decimal(-1.5, 1, "en")]).toEqual(["0,308", "−1.5"]);
    expect([percent(0.613, "cs"), percent(0.0001, "en"), percent(0, "en")]).toEqual(["61,3\u00a0%", "<\u00a00.1\u00a0%", "0.0\u00a0%"]);
    expect([fine(0.23451, "en"), fine(0.000548263, "cs"), fine(0, "en")]).toEqual(["23.5\u00a0%", "0,0548\u00a0%", "0\u00a0%"]);
  });
  it("keep every digit where every digit is asked for", () => {
    expect(exact(0.30000000000000004, "cs")).toBe("0,30000000000000004");
    expect(exact(1.25e-9, "en")).toBe("1.25·10⁻⁹");
    expect([exact(NaN, "en"), exact(-Infinity, "en")]).toEqual(["NaN", "−∞"]);
    expect(scientific(7.54e-11, "cs")).toBe("7,5·10⁻¹¹");
  });
  it("agree with their noun", () => {
    const forms = ["klíč", "klíče", "klíčů"] as const;
    expect([1, 3, 5, 22].map((many) => count(many, "cs", forms))).toEqual(["1\u00a0klíč", "3\u00a0klíče", "5\u00a0klíčů", "22\u00a0klíčů"]);
  });
  it("name a mask in Czech", () => {
    expect(maskWords("causal & window (511, open)", "cs")).toBe("kauzální & okno (511, bez meze)");
    expect(maskWords("causal & 3 documents", "cs")).toBe("kauzální & oddělené dokumenty (3)");
    expect(maskWords("none", "cs")).toBe("žádná");
  });
});
