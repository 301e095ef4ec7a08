import { describe, expect, it } from "vitest";
import { DEFAULTS, parseAddress, writeAddress, type MapAddress } from "../src/model/mapAddress";
import { joined, pieces } from "../src/model/pieces";
import { ranked, readout, type Readout } from "../src/model/readout";
import { parse } from "../src/model/route.svelte";
import { readoutText } from "../src/words/readout";

describe("address", () => {
  it("comes back as it was written", () => {
    const state: MapAddress = {
      item: 2,
      layer: 12,
      kind: "cross",
      head: 0,
      variant: "causal",
      derived: "minus:1.2",
      value: "value_norm",
      reduce: "share",
      transfer: "power",
      root: 3,
      colour: "ink",
      range: "max",
      clip: 99.9,
      low: 0.002,
      high: 0.3,
      leaveFirst: true,
      query: 0,
      key: 777,
      hidden: [3, 777],
      find: "švejk & co",
      wholeWords: true,
      look: { cell: 3.25, query: 100.5, key: 0 },
      panel: "inspector",
      heads: "entropy",
      order: "most",
    };
    expect(parseAddress(writeAddress(state))).toEqual(state);
  });
  it("leaves defaults out", () => {
    expect(writeAddress(DEFAULTS).toString()).toBe("");
    expect(parseAddress(new URLSearchParams())).toEqual(DEFAULTS);
  });
  it("takes nonsense for the default", () => {
    const nonsense = new URLSearchParams("layer=-1&head=1e3&mask=all&colour=jet&look=1_2&q=x&k=0x1&look=NaN_1_1");
    expect(parseAddress(nonsense)).toEqual(DEFAULTS);
  });
});

describe("route", () => {
  it("knows its pages", () => {
    expect(parse("")).toEqual({ page: "home" });
    expect(parse("#/")).toEqual({ page: "home" });
    expect(parse("#/paper").page).toBe("paper");
    const map = parse("#/map/abc?layer=3&q=1");
    expect(map.page === "map" && [map.id, map.query.get("layer")]).toEqual(["abc", "3"]);
    expect(parse("#/nowhere")).toEqual({ page: "lost", path: "/nowhere" });
  });
});

describe("readout", () => {
  const of = (...probs: number[]) => readout(ranked(probs, probs.map(() => true)));
  const indices = (said: Readout) => (said.kind === "looks" ? said.at.map(({ index }) => index) : said.kind);
  it("names every key above a twentieth, largest first", () => {
    const third = 0.329671;
    expect(of(third, third, 0.003662, third, 0.003662, 0.003662)).toMatchObject({ kind: "looks", mainly: true });
    expect(indices(of(third, third, 0.003662, third, 0.003662, 0.003662))).toEqual([0, 1, 3]);
    expect(indices(of(0.010524, 0.010524, 0.947378, 0.010524, 0.010524, 0.010524))).toEqual([2]);
    expect(indices(of(0.05, 0.051, 0.899))).toEqual([2, 1]); // 5 % itself is not above it
  });
  it("takes what differs by rounding alone for equal, the lower index first", () => {
    expect(indices(of(0.3, 0.3 + 1e-12, 0.4 - 1e-12))).toEqual([2, 0, 1]);
    expect(of(1 / 6, 1 / 6 + 1e-12, 1 / 6, 1 / 6, 1 / 6, 1 / 6)).toMatchObject({ kind: "equally", count: 6 });
  });
  it("claims no focus below a third, as by_hand does", () => {
    expect(of(0.3, 0.14, 0.14, 0.14, 0.14, 0.14)).toMatchObject({ kind: "looks", mainly: false });
    expect(of(0.34, 0.13, 0.13, 0.13, 0.13, 0.14)).toMatchObject({ kind: "looks", mainly: true });
    const many = Array.from({ length: 100 }, () => 0.0096);
    expect(of(...many, 0.04)).toMatchObject({ kind: "spread", at: { index: 100 } });
  });
  it("counts only what the mask lets through", () => {
    expect(readout(ranked([1, 0, 0], [true, false, false]))).toMatchObject({ kind: "only", at: { index: 0 } });
    expect(readout(ranked([0, 0], [false, false]))).toEqual({ kind: "nothing" });
    expect(readout(ranked([0, 0], [true, true]))).toEqual({ kind: "nothing" }); // all of it went to a sink
  });
  it("hides no number that is not finite", () => {
    expect(readout(ranked([0.5, null], [true, true]))).toEqual({ kind: "unknown" });
    expect(ranked([0.5, null], [true, true])[0]?.index).toBe(1);
  });
  it("is worded once, with the names that its reader needs", () => {
    const said = of(0.5, 0.3, 0.2);
    const names = { who: "„it“", row: 2, key: (index: number) => "abc".charAt(index), most: 2 };
    expect(readoutText(said, names, "cs")).toBe("„it“ se dívá hlavně na: a 50\u00a0%, b 30\u00a0%, a\u00a01\u00a0další");
    expect(readoutText(said, { ...names, who: "", most: 3 }, "en")).toBe("looks mainly at a 50\u00a0%, b 30\u00a0%, c 20\u00a0%");
  });
});

describe("pieces", () => {
  const token = (text: string, start: number, stop: number) => ({ id: 0, text, start, stop, special: start < 0 });
  it("joins to the text", () => {
    const item = {
      text: "Švejk se usmál.",
      tokens: [token("<s>", -1, -1), token("Šv", 0, 2), token("ejk", 2, 5), token(" se", 5, 8), token("mál.", 11, 15)],
    };
    const cut = pieces(item);
    expect(cut.filter((piece) => !piece.outside).map((piece) => piece.before + piece.text).join("")).toBe(item.text);
    expect(cut[0]).toEqual({ token: 0, text: "<s>", outside: true, before: "" });
    expect(cut[3]).toEqual({ token: 3, text: "se", outside: false, before: " " });
    expect(cut[4]).toEqual({ token: null, text: " us", outside: false, before: "" });
  });
  it("shows every byte of a character, the character once", () => {
    const item = { text: "💩!", tokens: [token("⟨F0 9F⟩", 0, 2), token("⟨92 A9⟩", 0, 2), token("!", 2, 3)] };
    expect(pieces(item).map(({ text, outside }) => [text, outside])).toEqual([
      ["💩", false],
      ["⟨92 A9⟩", true],
      ["!", false],
    ]);
  });
  it("shows a piece within its word", () => {
    const item = {
      text: "Švejk se usmál.",
      tokens: [token("Šv", 0, 2), token("ejk", 2, 5), token(" se", 5, 8), token(" us", 8, 11), token("mál", 11, 14), token(".", 14, 15)],
    };
    expect(joined(item).map(({ before, own, after }) => [before, own, after])).toEqual([
      ["", "Šv", "ejk"],
      ["Šv", "ejk", ""],
      ["", " se", ""],
      ["", " us", "mál"],
      ["us", "mál", ""],
      ["", ".", ""],
    ]);
  });
});
