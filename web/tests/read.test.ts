import { describe, expect, it } from "vitest";
import { decode, HIDDEN, MINUS_INFINITY, NOT_A_NUMBER, OUTSIDE, PLUS_INFINITY, TILE_BYTES, VALUE } from "../src/read/tile";
import { TileCache } from "../src/read/tileCache";
import { nameOf, TileSource } from "../src/read/tiles";
import type { Tile } from "../src/read/tile";
import type { Place } from "../src/scales/tileGrid";

function payload(numbers: Record<number, number>, states: Record<number, number>): ArrayBuffer {
  const buffer = new ArrayBuffer(TILE_BYTES);
  const view = new DataView(buffer);
  new Uint8Array(buffer, 65536 * 4).fill(OUTSIDE);
  for (const [i, value] of Object.entries(numbers)) view.setFloat32(Number(i) * 4, value, true);
  for (const [i, state] of Object.entries(states)) view.setUint8(65536 * 4 + Number(i), state);
  return buffer;
}

describe("tile", () => {
  const tile = decode(
    payload({ 0: 0.25, 1: NaN, 2: NaN, 3: Infinity, 4: -Infinity, 256: 0.75 }, { 0: VALUE, 1: VALUE, 2: HIDDEN, 3: VALUE, 4: VALUE, 256: VALUE }),
  );
  it("reads values and states", () => {
    expect(tile.values[0]).toBe(0.25);
    expect(tile.values[256]).toBe(0.75);
    expect([...tile.states.slice(0, 3), tile.states[5]]).toEqual([VALUE, NOT_A_NUMBER, HIDDEN, OUTSIDE]);
  });
  it("keeps out of the numbers that are drawn what is not finite, and says what it was", () => {
    expect([...tile.values.slice(1, 5)]).toEqual([0, 0, 0, 0]);
    expect([...tile.states.slice(3, 5)]).toEqual([PLUS_INFINITY, MINUS_INFINITY]);
  });
  it("refuses half a tile", () => {
    expect(() => decode(new ArrayBuffer(100))).toThrow("a tile has 327680 bytes; got 100");
  });
});

interface Asked {
  place: Place;
  signal: AbortSignal;
  give: (tile: Tile) => void;
  fail: (failure: Error) => void;
}

function bench(capacity = 10, lanes = 2, cache?: { name: string; tiles: TileCache }) {
  const asked: Asked[] = [];
  const got: string[] = [];
  const lost: string[] = [];
  const failures: unknown[] = [];
  const source = new TileSource(
    (place, signal) =>
      new Promise((give, fail) => {
        asked.push({ place, signal, give, fail });
      }),
    {
      arrived: (place) => got.push(nameOf(place)),
      complain: (failure) => failures.push(failure),
      dropped: (place) => lost.push(nameOf(place)),
      capacity,
      lanes,
      ...(cache === undefined ? {} : { cache }),
    },
  );
  return { source, asked, got, lost, failures };
}

const at = (zoom: number, row: number, column: number): Place => ({ zoom, row, column });
const empty: Tile = { values: new Float32Array(0), states: new Uint8Array(0), preview: false };
const turn = () => new Promise((done) => setTimeout(done, 0));

describe("tile source", () => {
  it("asks in the order given, a few at a time", async () => {
    const { source, asked, got } = bench();
    source.want([at(2, 0, 0), at(0, 0, 0), at(0, 0, 1)]);
    expect(asked.map(({ place }) => place.zoom)).toEqual([2, 0]);
    asked[0]?.give(empty);
    await turn();
    expect(got).toEqual(["2/0/0"]);
    expect(asked).toHaveLength(3);
  });
  it("cancels what is no longer wanted and never delivers it", async () => {
    const { source, asked, got } = bench();
    source.want([at(0, 0, 0), at(0, 0, 1)]);
    source.want([at(0, 0, 1), at(0, 5, 5)]);
    expect(asked[0]?.signal.aborted).toBe(true);
    expect(asked[1]?.signal.aborted).toBe(false);
    asked[0]?.give(empty);
    await turn();
    expect(got).toEqual([]);
    expect(asked.map(({ place }) => nameOf(place))).toEqual(["0/0/0", "0/0/1", "0/5/5"]);
  });
  it("forgets the one used longest ago", async () => {
    const { source, asked, lost } = bench(2, 4);
    source.want([at(0, 0, 0), at(0, 0, 1)]);
    for (const one of asked) one.give(empty);
    await turn();
    source.want([at(0, 0, 0), at(0, 0, 2)]);
    asked[2]?.give(empty);
    await turn();
    expect(lost).toEqual(["0/0/1"]);
    expect(source.get(at(0, 0, 0))).toBeDefined();
  });
  it("reports a failure once and tries again only when told", async () => {
    const { source, asked, failures } = bench();
    source.want([at(0, 0, 0)]);
    asked[0]?.fail(new Error("no"));
    await turn();
    source.want([at(0, 0, 0)]);
    expect([asked.length, failures.length]).toEqual([1, 1]);
    source.retry();
    source.want([at(0, 0, 0)]);
    expect(asked).toHaveLength(2);
  });
  it("puts the finished tile in a preview's place once it is told to", async () => {
    const { source, asked, got } = bench();
    source.want([at(3, 0, 0)]);
    asked[0]?.give({ ...empty, preview: true });
    await turn();
    source.want([at(3, 0, 0)]);
    expect(asked).toHaveLength(1); // the preview stands while the base is being made
    source.renew();
    source.want([at(3, 0, 0)]);
    expect(source.get(at(3, 0, 0))?.preview).toBe(true); // and until the other is here
    asked[1]?.give(empty);
    await turn();
    expect(source.get(at(3, 0, 0))?.preview).toBe(false);
    expect(got).toEqual(["3/0/0", "3/0/0"]);
  });
});

describe("tiles of other maps", () => {
  it("are there at once when one comes back to them, and never as previews", async () => {
    const tiles = new TileCache();
    const first = bench(10, 2, { name: "head 1", tiles });
    first.source.want([at(0, 0, 0), at(4, 0, 0)]);
    first.asked[0]?.give(empty);
    first.asked[1]?.give({ ...empty, preview: true });
    await turn();
    first.source.stop();
    const again = bench(10, 2, { name: "head 1", tiles });
    again.source.want([at(0, 0, 0), at(4, 0, 0)]);
    expect(again.got).toEqual(["0/0/0"]);
    expect(again.asked.map(({ place }) => place.zoom)).toEqual([4]);
    const other = bench(10, 2, { name: "head 2", tiles });
    other.source.want([at(0, 0, 0)]);
    expect(other.asked).toHaveLength(1);
  });
  it("are bounded in bytes, the one used longest ago goes", () => {
    const tiles = new TileCache(2 * TILE_BYTES);
    for (const name of ["a", "b"]) tiles.put(name, empty);
    tiles.get("a");
    tiles.put("c", empty);
    expect([tiles.get("a"), tiles.get("b"), tiles.get("c")].map((one) => one !== undefined)).toEqual([true, false, true]);
    expect(tiles.bytes).toBe(2 * TILE_BYTES);
    tiles.forget("a");
    expect(tiles.get("a")).toBeUndefined();
  });
});
