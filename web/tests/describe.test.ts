// Words of a number's place: a digit beside a head is the one that code takes.
import { describe, expect, it } from "vitest";
import { placeOf } from "../src/byhand/describe";
import { at } from "../src/engine/address";
import { byHandWords } from "../src/words/byhand";
import { colourWords } from "../src/words/colour";

const words = ["kočka", "spí"].map((text) => ({ text }));

describe("places in words", () => {
  it("counts heads from 0", () => {
    expect(placeOf({ words, heads: 2 } as never, at("probs", 1, 0, 0), byHandWords.en)).toBe("probs, head 0, row spí, column kočka");
    expect(placeOf({ words, heads: 2 } as never, at("probs", 1, 0, 1), byHandWords.cs)).toBe("probs, hlava 1, řádek spí, sloupec kočka");
  });

  it("calls a number of a row of attention a weight", () => {
    expect([colourWords.en.values.prob, colourWords.cs.values.prob]).toEqual(["weight", "váha"]);
  });
});
