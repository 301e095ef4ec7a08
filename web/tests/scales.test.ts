import { describe, expect, it } from "vitest";
import { repeated, shown, step } from "../src/scales/axis";
import { home, locate, tilesIn, zoomFor } from "../src/scales/tileGrid";
import { label, parts, seen, shorten, spoken } from "../src/scales/tokenLabel";

describe("axis", () => {
  it("steps by 1, 2, 5, 10 …", () => {
    expect([40, 13, 8, 3, 1.5, 0.4].map((cell) => step(cell, 13))).toEqual([1, 1, 2, 5, 10, 50]);
  });
  it("labels every token when there is room", () => {
    expect(shown(5, 20, 0, 200, 13)).toEqual([0, 1, 2, 3, 4]);
  });
  it("labels only what the window shows", () => {
    expect(shown(100, 20, -205, 100, 13)).toEqual([10, 11, 12, 13, 14]); // 15 is only half there
  });
  it("keeps the pointed one and pushes its neighbours out", () => {
    expect(shown(40, 3, 0, 120, 13, [11])).toEqual([0, 11, 20, 25, 30, 35]);
  });
  it("keeps steps on the same indices while panning", () => {
    expect(shown(100, 3, -7, 60, 13)).toEqual([5, 10, 15, 20]);
  });
  it("has nothing to say about an empty axis", () => {
    expect(shown(0, 10, 0, 100, 13)).toEqual([]);
  });
});

describe("token labels", () => {
  it("makes white space and control characters visible and different", () => {
    const tokens = ["", " ", "  ", "\n", "\t", "\r", "\u00a0", "\u200b", "\x00", "\x1b"];
    const labels = tokens.map((token) => label(token));
    expect(new Set(labels).size).toBe(tokens.length);
    for (const text of labels) expect(text).not.toMatch(/^[\p{Z}\p{C}]*$/u);
  });
  it("leaves what can be read as it is", () => {
    const tokens = ["hello", "<!--", "x<script>window.__hit=1</script>", "-->", "a&amp;b", "שלום", "Švejk"];
    for (const token of tokens) expect(label(token)).toBe(token);
  });
  it("takes the power from bidi controls and lone halves of characters", () => {
    expect(label("\u202eabc")).toBe("U+202Eabc");
    expect(label("\ud800")).toBe("U+D800");
    expect(label("\u0301a")).toBe("◌\u0301a");
  });
  it("tells the space before a word from a space that is the token", () => {
    expect(parts(" cat")).toEqual([
      { text: "␣", kind: "space" },
      { text: "cat", kind: "plain" },
    ]);
    expect(parts(" ")).toEqual([{ text: "␣", kind: "mark" }]);
    expect(parts("  x")[0]).toEqual({ text: "␣␣", kind: "mark" });
    expect(spoken(" cat")).toBe("\u2068cat\u2069");
    expect(spoken("\n")).toBe("\u2068↵\u2069");
  });
  it("shortens by characters", () => {
    expect([shorten("nejneobho", 4, "start"), shorten("nejneobho", 4, "end"), shorten("ab", 4, "end")]).toEqual(["…bho", "nej…", "ab"]);
    expect(label("nejneobhospodařovávatelnější", 6)).toBe("nejneo…");
  });
});

describe("tiles", () => {
  it("takes the finest zoom whose pixels are not smaller than the screen's", () => {
    expect([8, 1, 0.5, 0.34, 0.01].map((cell) => zoomFor(cell, 1, 4))).toEqual([0, 0, 1, 2, 3]);
    expect(zoomFor(0.5, 2, 4)).toBe(0);
  });
  it("asks for the tiles in the window, the middle first", () => {
    const window = { cell: 1, x: 0, y: 0, width: 600, height: 300 };
    const places = tilesIn(window, 0, 2048, 2048);
    expect(places).toHaveLength(3 * 2);
    expect(places[0]).toEqual({ zoom: 0, row: 0, column: 1 });
  });
  it("stays inside the matrix", () => {
    const window = { cell: 4, x: 50, y: -20, width: 900, height: 900 };
    expect(tilesIn(window, 0, 64, 64)).toEqual([{ zoom: 0, row: 0, column: 0 }]);
    expect(tilesIn({ ...window, x: 5000 }, 0, 64, 64)).toEqual([]);
  });
  it("finds a cell in its tile", () => {
    expect(locate(517, 301, 0)).toEqual({ zoom: 0, row: 2, column: 1, index: 5 * 256 + 45 });
    expect(locate(517, 301, 2)).toEqual({ zoom: 2, row: 0, column: 0, index: 129 * 256 + 75 });
  });
  it("shows the whole matrix at home", () => {
    expect(home(700, 500, 64, 64, 96).cell).toBeCloseTo(500 / 64);
    expect(home(700, 500, 2, 2, 96).cell).toBe(96);
  });
});

describe("labels that look the same", () => {
  const token = (own: string, before = "", after = "", inText = true) => ({ before, own, after, inText });
  const twins = (tokens: ReturnType<typeof token>[], longest = 13) => [...repeated(tokens.map((one) => seen(one, longest)))];
  it("are found by what is seen, not by what the tokens hold", () => {
    expect(twins([token("Anna"), token(" gave"), token(" Anna")])).toEqual([0, 2]); // the space of a text is not shown
    expect(twins([token("Anna", "", "", false), token(" Anna", "", "", false)])).toEqual([]); // here it is: ␣Anna
  });
  it("are so too when two pieces of one word both show the word", () => {
    expect(twins([token(" walk", "", "ed"), token("ed", "walk"), token(".")])).toEqual([0, 1]);
  });
  it("are so too when they differ only in what is cut off", () => {
    expect(twins([token("internationally"), token("internationals")])).toEqual([0, 1]);
    expect(twins([token("internationally"), token("internationals")], 15)).toEqual([]);
  });
});
