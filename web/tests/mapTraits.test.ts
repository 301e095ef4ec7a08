import { describe, expect, it } from "vitest";
import { addressOf, chosenOf, same, type Chosen } from "../src/widget/mapTraits";

const traits: Chosen = {
  item: 1,
  layer: 12,
  kind: "self",
  head: 5,
  variant: "unmasked",
  value: "value_norm",
  reduce: "mean",
  query: 517,
  key: null,
  look: [24, 517.5, 301.25],
  rest: { colour: "magma", scale: "linear" },
};

describe("the traits of a view and its address", () => {
  it("say the same there and back", () => {
    const address = addressOf(traits);
    expect(address).toMatchObject({ layer: 12, query: 517, colour: "magma", transfer: "linear", look: { cell: 24, query: 517.5, key: 301.25 } });
    expect(chosenOf(address, traits)).toEqual(traits);
  });
  it("fill in what an address leaves open, and keep what is usual out of the rest", () => {
    const address = { ...addressOf({ ...traits, rest: {} }), layer: null, head: null };
    expect(chosenOf(address, { layer: 7, head: 2 })).toEqual({ ...traits, layer: 7, head: 2, rest: {} });
  });
  it("ignore what no link knows", () => {
    expect(chosenOf(addressOf({ ...traits, rest: { colour: "pink", x: "y", q: "3" } }), traits).rest).toEqual({});
  });
  it("are compared by what they hold", () => {
    expect(same([1, null], [1, null])).toBe(true);
    expect(same({ a: 1 }, { a: 2 })).toBe(false);
  });
});
