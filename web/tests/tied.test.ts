import { describe, expect, it } from "vitest";
import { tied } from "../src/words/tied";

describe("unbreakable spaces", () => {
  it("stand after one-letter words, in plain words, in lists and in what a sentence gives", () => {
    const words = tied({ plain: "V řádku i s maskou", list: [["a tak", "dál"]], said: (word: string) => `slovo ${word} v textu` });
    expect(words.plain).toBe("V\u00a0řádku i\u00a0s\u00a0maskou");
    expect(words.list).toEqual([["a\u00a0tak", "dál"]]);
    expect(words.said("kočka")).toBe("slovo kočka v\u00a0textu");
  });

  it("hold thousands together and leave commands alone", () => {
    expect(tied("mezi −1 000 000 a 1 000")).toBe("mezi −1\u00a0000\u00a0000 a\u00a01\u00a0000");
    expect(tied("pozor record x -o dopis")).toBe("pozor record x -o dopis");
  });
});
