import { describe, expect, it } from "vitest";
import { Attention } from "../src/live/attention";
import { byWord, goesOn, lookingBack, rowByWord, wordsOf } from "../src/live/words";
import type { TokenDocument } from "../src/read/documents";

const token = (text: string, start: number, stop: number): TokenDocument => ({ id: 0, text, start, stop, special: start < 0 });
// „Pan Švejk.“ in pieces, the š cut into its two bytes
const text = "Pan Švejk.\n";
const tokens = [
  token("⏎", -1, -1),
  token("Pan", 0, 3),
  token("⟨20 C5⟩", 3, 5),
  token("⟨A0⟩", 4, 5),
  token("vejk", 5, 9),
  token(".", 9, 10),
  token("\n", 10, 11),
];

describe("words of the live text", () => {
  it("joins the pieces of a word, also where a character is cut", () => {
    const words = wordsOf({ text, tokens });
    expect(words.map((word) => word.text)).toEqual(["⏎", "Pan", "Švejk", ".", "↵"]);
    expect(words[2]).toMatchObject({ first: 2, last: 4, start: 4, stop: 9 });
    expect([1, 2, 3, 4, 5].map((index) => goesOn({ text, tokens }, index))).toEqual([false, false, true, true, false]);
  });
  it("puts a blank that is a token of its own before the word that follows", () => {
    const words = wordsOf({ text: "a b c", tokens: [token("a", 0, 1), token(" ", 1, 2), token("b", 2, 3), token(" c", 3, 5)] });
    expect(words).toMatchObject([{ text: "a" }, { text: "b", first: 1, last: 2, start: 2, stop: 3 }, { text: "c" }]);
  });
  it("adds up the keys of a word and takes its last piece as the query", () => {
    const side = 3;
    // one layer, two heads; rows 1 · .5 .5 · .2 .3 .5 and the same for the second head with 0 and 1
    const numbers = [1, 0, 0, 0.5, 0.5, 0, 0.2, 0.3, 0.5, 1, 0, 0, 0, 1, 0, 0, 0, 1];
    const attention = Attention.from(new Float32Array(numbers).buffer, 1, 2, side);
    const words = wordsOf({ text: "a bc", tokens: [token("a", 0, 1), token(" b", 1, 3), token("c", 3, 4)] });
    expect(words.map((word) => word.text)).toEqual(["a", "bc"]);
    const map = byWord(attention, 0, 0, words);
    expect(map[0]).toEqual([1, null]);
    expect(map[1]?.[0]).toBeCloseTo(0.2, 6);
    expect(map[1]?.[1]).toBeCloseTo(0.8, 6);
    expect(byWord(attention, 0, 0, words, 1)[0]?.[0]).toBeCloseTo(0.8, 6);
    const longer = attention.longer([[[0.1, 0.2, 0.3, 0.4], [0, 0, 0, 1]]]);
    expect([longer.tokens, attention.tokens]).toEqual([4, 3]);
    const three = [...words, { text: "d", first: 3, last: 3, start: 4, stop: 5 }];
    expect(rowByWord(longer, 0, 0, three, 2).map((part) => Math.round(part * 10) / 10)).toEqual([0.1, 0.5, 0.4]);
    expect(rowByWord(longer, 0, 1, three, 2)).toEqual([0, 0, 1]);
  });
  it("opens on the head whose newest row looks back most, past the start sign", () => {
    const rows = [[0.9, 0.05, 0.05], [0.1, 0.3, 0.6], [0, 0.2, 0.8], [0.69, 0.01, 0.3]]; // back: .05 .3 .2 .01
    const numbers = rows.flatMap((row) => [1, 0, 0, 0.5, 0.5, 0, ...row]);
    const attention = Attention.from(new Float32Array(numbers).buffer, 2, 2, 3);
    const words = wordsOf({ text: "a b", tokens: [token("⏎", -1, -1), token("a", 0, 1), token(" b", 1, 3)] });
    expect(lookingBack(attention, words)).toEqual({ layer: 0, head: 1 });
    expect(lookingBack(attention, words.slice(0, 1))).toEqual({ layer: 0, head: 0 });
  });
  it("refuses numbers that are not all the attention there is", () => {
    expect(() => Attention.from(new Float32Array(5).buffer, 1, 1, 2)).toThrow("attention of 5 numbers");
  });
});
