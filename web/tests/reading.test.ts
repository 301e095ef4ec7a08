import { describe, expect, it } from "vitest";
import { contextOf } from "../src/model/context";
import { byDistance } from "../src/model/distance";
import { Finder, nextHit } from "../src/model/find";
import { blocks, joined, Names, pieces } from "../src/model/pieces";
import { WholeWords } from "../src/model/wholeWords";
import { columnEntries, litByColumn, litByRow, rowEntries, together } from "../src/model/wordView";
import type { ColumnDocument, RowDocument, TokenDocument } from "../src/read/documents";
import { TILE, zoomsOf } from "../src/scales/tileGrid";

/** Tokens that cut a text one after the other. */
function cut(...parts: string[]) {
  let at = 0;
  const tokens = parts.map((text, id): TokenDocument => {
    const start = at;
    at += text.length;
    return { id, text, start, stop: at, special: false };
  });
  return { text: parts.join(""), tokens };
}
const svejk = cut("Pan", " Š", "vej", "k", " pil", ",", " pan", " šve", "jk", " spal", ".");

describe("whole words", () => {
  it("are pieces without anything between letters", () => {
    const words = new WholeWords(svejk);
    expect([...words.of]).toEqual([0, 1, 1, 1, 2, 3, 4, 5, 5, 6, 7]);
    expect([words.name(1).own, words.name(3).own]).toEqual([" Švejk", ","]);
    expect(words.around(2)).toEqual({ first: 1, last: 3 });
  });
  it("put the bytes of a character back together, and leave what is not in the text alone", () => {
    const byte = (text: string) => ({ id: 0, text, start: 1, stop: 2, special: false });
    const item = { text: "jř ó", tokens: [{ id: 1, text: "<s>", start: -1, stop: -1, special: true }, { id: 2, text: "j", start: 0, stop: 1, special: false }, byte("⟨C5⟩"), byte("⟨99⟩"), { id: 3, text: " ó", start: 2, stop: 4, special: false }] };
    expect([...new WholeWords(item).of]).toEqual([0, 1, 1, 1, 2]);
    expect(new WholeWords(item).name(1).own).toBe("jř");
  });
  it("know letters that are two units long", () => {
    expect([...new WholeWords(cut("𝕒", "𝕓", "😀", "😀")).of]).toEqual([0, 0, 1, 2]);
  });
  it("add their keys up; their last piece is their query", () => {
    const words = new WholeWords(cut(" a", "b", " c"));
    const row: RowDocument = { query: 2, probs: [0.2, 0.3, 0.5], visible: [true, true, true], entropy: 1, lse: 0, sink: 0, weighted: null };
    // a + b = 0.5 = c: equal, so the lower comes first
    expect(rowEntries(row, words)).toEqual([
      { index: 1, prob: 0.5 },
      { index: 2, prob: 0.5 },
    ]);
    expect(litByRow({ ...row, probs: [0.1, 0.1, 0.8] }, words)).toEqual([0.25, 0.25, 1]);
    const column: ColumnDocument = { key: 0, probs: [0.9, 0.4, 0.2], visible: [true, true, true], received: 0.5, weighted: null };
    expect(columnEntries(column, words, 0).map(({ index }) => index)).toEqual([1, 2]);
    expect(litByColumn(column, words, 0)).toEqual([0.4, 0.4, 0.2].map((one) => one / 0.9));
    const both = together([column, { ...column, key: 1, probs: [0, 0.3, 0.1], visible: [false, true, true], received: 0.2 }]);
    expect([both.key, both.received]).toEqual([1, 0.7]);
    expect(both.probs).toEqual([0.9, 0.7, 0.30000000000000004]); // 0.2 + 0.1 in doubles
  });
  it("never hide a number that is not known", () => {
    const words = new WholeWords(cut(" a", "b", " c"));
    expect(words.sums([0.1, null, 0.4])).toEqual([null, 0.4]);
  });
});

describe("finding", () => {
  it("sees no marks and no capitals, over the edges of tokens, from either side", () => {
    const finder = new Finder(svejk);
    expect(finder.find("svejk")).toEqual([
      { first: 1, last: 3 },
      { first: 7, last: 8 },
    ]);
    expect(finder.find("ŠVEJK PIL")).toEqual([{ first: 1, last: 4 }]);
    expect(finder.find("Š")).toHaveLength(3 - 1 + 1); // s of Švejk, šve and spal
    expect([finder.find("  "), finder.find("vlak")]).toEqual([[], []]);
  });
  it("finds letters written with a mark of their own, and keeps the places of what follows", () => {
    const item = cut("e\u0301", " İx", " e");
    expect(new Finder(item).find("e")).toEqual([
      { first: 0, last: 0 },
      { first: 2, last: 2 },
    ]);
    expect(new Finder(item).find("x")).toEqual([{ first: 1, last: 1 }]);
  });
  it("looks through the tokens where no text is kept", () => {
    const tokens = ["a", "bc", "d"].map((text, id) => ({ id, text, start: -1, stop: -1, special: false }));
    expect(new Finder({ text: "", tokens }).find("cd")).toEqual([{ first: 1, last: 2 }]);
  });
  it("goes round, and starts where one is", () => {
    const hits = [{ first: 2, last: 2 }, { first: 9, last: 9 }];
    expect([nextHit(hits, null, 1, 5), nextHit(hits, null, 1, 99), nextHit(hits, 1, 1), nextHit(hits, 0, -1), nextHit([], null, 1)]).toEqual([1, 0, 0, 1, null]);
  });
});

describe("distance", () => {
  it("has bins 0, 1, 2–3, 4–7, … back, and the same ahead", () => {
    const probs = [0.1, 0.2, 0.05, 0.15, 0.4, 0.1];
    const visible = probs.map(() => true);
    const bins = byDistance(probs, visible, 4); // distances 4 3 2 1 0 −1
    expect(bins.map(({ from, to }) => [from, to])).toEqual([[-1, -1], [0, 0], [1, 1], [2, 3], [4, 7]]);
    const parts = bins.map(({ part }) => part);
    [0.1, 0.4, 0.15, 0.25, 0.1].forEach((part, i) => expect(parts[i]).toBeCloseTo(part, 15));
  });
  it("leaves out what may not be seen, and says what is not finite", () => {
    expect(byDistance([0.5, null, 9], [true, true, false], 1).map(({ part }) => part)).toEqual([NaN, 0.5]);
  });
});

describe("long texts", () => {
  const long = cut(...Array.from({ length: 3000 }, (_, i) => (i % 37 === 36 ? " konec\n" : ` slovo${i}`)));
  it("are cut in blocks that together are the text, each ending with a line", () => {
    const cuts = blocks(long);
    expect(cuts.length).toBeGreaterThan(5);
    const whole = cuts.map((block) => pieces(long, block).map(({ before, text }) => before + text).join("")).join("");
    expect(whole).toBe(long.text);
    expect(cuts.slice(0, -1).every(({ end }) => long.text.charAt(end - 1) === "\n")).toBe(true);
    expect(cuts.flatMap(({ first, stop }) => Array.from({ length: stop - first }, (_, i) => first + i))).toEqual(long.tokens.map((_, i) => i));
    expect(blocks(svejk)).toHaveLength(1);
    expect(blocks(cut("")).at(-1)?.end).toBe(0);
  });
  it("part before a word where no line ends, and somewhere where there are no words", () => {
    const words = cut(...Array.from({ length: 1500 }, (_, i) => (i % 2 === 0 ? ` w${i}` : "x")));
    expect(blocks(words).slice(1).every(({ first }) => words.tokens[first]?.text.startsWith(" "))).toBe(true);
    expect(blocks(cut(...Array.from({ length: 3000 }, () => "x"))).length).toBe(3);
  });
  it("are named only where somebody looks, and as before", () => {
    const names = new Names(svejk);
    expect(svejk.tokens.map((_, token) => names.of(token))).toEqual(joined(svejk));
    expect(names.of(2)).toBe(names.of(2));
    expect(new Names(null).of(7).own).toBe("7");
  });
});

describe("context", () => {
  it("is a few words on either side, cut between words", () => {
    const text = cut(..."Když se ho ptali, kde byl, řekl Švejk, že pil u Kalicha pivo s hostinským".split(/(?= )/));
    const at = text.tokens.findIndex((token) => token.text === " Švejk,");
    expect(contextOf(text, at, at)).toEqual({ before: "…ho ptali, kde byl, řekl ", after: " že pil u Kalicha pivo s…" });
    expect(contextOf(cut("a", " b"), 0, 0)).toEqual({ before: "", after: " b" });
  });
});

describe("zooms", () => {
  it("end with the first that has a single tile", () => {
    expect([1, 256, 257, 512, 513, 8192, 131072].map(zoomsOf)).toEqual([1, 1, 2, 2, 3, 6, 10]);
    expect(TILE * 2 ** (zoomsOf(131072) - 1)).toBe(131072);
  });
});
