import { describe, expect, it } from "vitest";
import { DEFAULTS, parseAddress, writeAddress, type MapAddress } from "../src/model/mapAddress";
import { joined, pieces } from "../src/model/pieces";
import { ranked, readout } from "../src/model/readout";
import { parse } from "../src/model/route.svelte";

describe("address", () => {
  it("comes back as it was written", () => {
    const state: MapAddress = {
      item: 2,
      layer: 12,
      kind: "cross",
      head: 0,
      variant: "causal",
      value: "value_norm",
      reduce: "share",
      transfer: "log",
      colour: "ink",
      range: "max",
      query: 0,
      key: 777,
      look: { cell: 3.25, query: 100.5, key: 0 },
      panel: "inspector",
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
  it("names the few that hold most of the row", () => {
    const third = 0.329671;
    const said = of(third, third, 0.003662, third, 0.003662, 0.003662);
    expect(said.kind === "mainly" && said.at.map(({ index }) => index)).toEqual([0, 1, 3]);
    const one = of(0.010524, 0.010524, 0.947378, 0.010524, 0.010524, 0.010524);
    expect(one.kind === "mainly" && one.at.map(({ index }) => index)).toEqual([2]);
  });
  it("says when all get the same", () => {
    expect(of(1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6, 1 / 6)).toMatchObject({ kind: "equally", count: 6 });
  });
  it("does not claim a focus that is not there", () => {
    expect(of(0.3, 0.14, 0.14, 0.14, 0.14, 0.14).kind).toBe("spread");
  });
  it("counts only what the mask lets through", () => {
    expect(readout(ranked([1, 0, 0], [true, false, false]))).toMatchObject({ kind: "only", at: { index: 0 } });
    expect(readout(ranked([0, 0], [false, false]))).toEqual({ kind: "nothing" });
  });
  it("hides no number that is not finite", () => {
    expect(readout(ranked([0.5, null], [true, true]))).toEqual({ kind: "unknown" });
    expect(ranked([0.5, null], [true, true])[0]?.index).toBe(1);
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
