import { describe, expect, it } from "vitest";
import { strongest } from "../src/read/strongest";
import { HIDDEN, VALUE, type Tile } from "../src/read/tile";
import { locate, type Place } from "../src/scales/tileGrid";

const size = { queries: 600, keys: 600 };

function tileWith(cells: readonly (readonly [query: number, key: number, value: number, state?: number])[]) {
  const asked: Place[] = [];
  const tile: Tile = { values: new Float32Array(65536), states: new Uint8Array(65536).fill(VALUE), preview: false };
  for (const [query, key, value, state] of cells) {
    const { index } = locate(query, key, 0);
    tile.values[index] = value;
    tile.states[index] = state ?? VALUE;
  }
  return { asked, at: (place: Place) => (asked.push(place), Promise.resolve(tile)) };
}

describe("the strongest cell of a pixel", () => {
  it("is found where the peak is", async () => {
    const tiles = tileWith([[517, 301, 1]]);
    expect(await strongest({ query: 516, key: 302 }, 4, size, tiles.at)).toEqual({ query: 517, key: 301 });
    expect(tiles.asked).toEqual([{ zoom: 0, row: 2, column: 1 }]);
  });
  it("is never a hidden one, nor one outside", async () => {
    const tiles = tileWith([
      [598, 598, 9, HIDDEN],
      [599, 598, 0.5],
      [600, 600, 7],
    ]);
    expect(await strongest({ query: 599, key: 599 }, 8, size, tiles.at)).toEqual({ query: 599, key: 598 });
  });
  it("is the cell itself where a pixel is one cell", async () => {
    const tiles = tileWith([]);
    expect(await strongest({ query: 3, key: 4 }, 1, size, tiles.at)).toEqual({ query: 3, key: 4 });
    expect(tiles.asked).toEqual([]);
  });
});
