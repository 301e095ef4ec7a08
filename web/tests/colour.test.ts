import { describe, expect, it } from "vitest";
import { inGlyph, oddText } from "../src/marks/glyphs";
import type { Paint } from "../src/marks/painter";
import { colours, lay, type Picture } from "../src/marks/softPainting";
import { endOf, fitted, measured, rangeOf, upto, type Wish } from "../src/model/colourRange";
import { parseAddress, writeAddress } from "../src/model/mapAddress";
import { Measure } from "../src/model/measured";
import { inView, ordered, percentile, whole } from "../src/model/spread";
import { HIDDEN, MINUS_INFINITY, NOT_A_NUMBER, OUTSIDE, PLUS_INFINITY, VALUE, type Tile } from "../src/read/tile";
import { colour, moreIsDarker, readable, scaleOf, SCALES, table } from "../src/scales/colour";
import { decadeChoices, rounded, stepped, ticks, trackOf } from "../src/scales/track";
import { place, range, ROOTS, TRANSFERS, valueAt, type Range } from "../src/scales/transfer";
import { cellValue, scaleValue, three } from "../src/words/values";

const at00 = { zoom: 0, row: 0, column: 0 };

/** A tile of which the first row's first cells are given; the rest is outside the matrix. */
function tileOf(values: readonly number[], states: readonly number[] = values.map(() => VALUE)): Tile {
  const tile = { values: new Float32Array(65536), states: new Uint8Array(65536).fill(OUTSIDE), preview: false };
  tile.values.set(values);
  tile.states.set(states);
  return tile;
}

describe("transfer", () => {
  it("is linear from its low to its high end", () => {
    expect(place(0.25, range("linear", 1))).toBe(0.25);
    expect(place(0.25, range("linear", 0.5))).toBe(0.5);
    expect(place(0.3, range("linear", 0.5, { low: 0.1 }))).toBeCloseTo(0.5, 15); // (0.3 − 0.1) / (0.5 − 0.1)
  });
  it("takes equal steps for equal ratios when logarithmic", () => {
    const log = range("log", 1);
    expect(place(1, log)).toBe(1);
    expect(place(0.1, log)).toBeCloseTo(2 / 3, 12); // one of three decades below 1
    expect(place(1e-3, log)).toBeCloseTo(0, 12);
    expect(place(1e-7, log)).toBe(0);
    expect(place(0, log)).toBe(0);
    expect(place(1e-3, range("log", 1, { low: 1e-4 }))).toBeCloseTo(1 / 4, 12); // one of four
  });
  it("takes the root when it is a power", () => {
    expect(place(0.25, range("power", 1))).toBe(0.5); // √0.25
    expect(place(0.001, range("power", 1, { root: 3 }))).toBeCloseTo(0.1, 12); // ∛0.001
    expect(place(0.0625, range("power", 1, { root: 4 }))).toBeCloseTo(0.5, 12);
    expect(place(2, range("power", 8, { root: 2 }))).toBeCloseTo(0.5, 12); // √(2/8)
  });
  it("keeps zero in the middle of a signed range, and both sides alike", () => {
    for (const transfer of TRANSFERS) {
      const both = range(transfer, 0.5, { signed: true });
      expect(place(0, both)).toBe(0.5);
      expect(place(0.5, both)).toBe(1);
      expect(place(-0.5, both)).toBe(0);
      for (const value of [0.001, 0.02, 0.3]) expect(place(value, both) + place(-value, both)).toBeCloseTo(1, 12);
    }
    expect(place(-0.125, range("linear", 0.5, { signed: true }))).toBe(0.375); // 0.5 − 0.125/0.5/2
  });
  it("is turned round by valueAt", () => {
    for (const transfer of TRANSFERS) {
      for (const root of ROOTS) {
        for (const signed of [false, true]) {
          for (const low of transfer === "log" ? [1e-5, 0.01] : [null, 0.01]) {
            const scale = range(transfer, 0.7, { root, low, signed });
            for (let at = 0; at <= 1; at += 1 / 16) {
              // on a signed logarithmic scale all that is below the floor lies in the middle
              if (signed && transfer === "log" && at === 0.5) continue;
              expect(place(valueAt(at, scale), scale)).toBeCloseTo(at, 9);
            }
          }
        }
      }
    }
  });
  it("never falls", () => {
    for (const transfer of TRANSFERS) {
      for (const signed of [false, true]) {
        const scale = range(transfer, 0.9, { signed });
        let last = -1;
        for (let value = signed ? -1 : 0; value <= 1; value += 1 / 512) {
          const now = place(value, scale);
          expect(now).toBeGreaterThanOrEqual(last);
          last = now;
        }
      }
    }
  });
  it("stays inside 0…1", () => {
    expect(place(7, range("linear", 1))).toBe(1);
    expect(place(-1, range("linear", 1))).toBe(0);
  });
  it("survives a map of zeros and ends that make no range", () => {
    expect(range("linear", 0).high).toBe(1);
    expect(range("log", NaN).high).toBe(1);
    expect(range("linear", 0.2, { low: 0.2 }).low).toBe(0);
    expect(range("log", 0.2, { low: 0 }).low).toBeCloseTo(0.0002, 12);
    expect(range("linear", 0.2, { low: 0.1, signed: true }).low).toBe(0); // a difference begins at zero
  });
});

describe("the track of the legend", () => {
  const says = (track: Range): string[] => ticks(track).map(({ value }) => scaleValue(value, "en"));
  it("spans all there can be", () => {
    expect(trackOf(range("linear", 1), 1)).toEqual(range("linear", 1));
    expect(trackOf(range("linear", 0.3), 1).high).toBe(1);
    expect(trackOf(range("power", 1, { root: 3 }), 1)).toEqual(range("power", 1, { root: 3 }));
  });
  it("comes nearer when the high end would stick to its beginning", () => {
    expect(trackOf(range("linear", 0.05), 1).high).toBeCloseTo(0.1, 12);
    expect(trackOf(range("linear", 0.003), 1).high).toBeCloseTo(0.01, 12);
    expect(trackOf(range("linear", 0.1), 1).high).toBe(1);
  });
  it("leaves a power of ten below a logarithmic scale", () => {
    expect(trackOf(range("log", 1), 1).low).toBeCloseTo(1e-4, 15);
    expect(trackOf(range("log", 1, { low: 1e-5 }), 1).low).toBeCloseTo(1e-6, 15);
    expect(trackOf(range("log", 0.02, { low: 0.003 }), 1)).toMatchObject({ low: 1e-4, high: 1 });
    expect(trackOf(range("log", 1 + 1e-7), 1).low).toBeCloseTo(1e-4, 15); // a float32 may be a little above 1
  });
  it("has ticks where the values lie, round ones", () => {
    for (const track of [range("linear", 0.3), range("log", 1), range("power", 1), range("linear", 1, { signed: true }), range("log", 1, { signed: true })]) {
      for (const tick of ticks(track)) expect(place(tick.value, track)).toBeCloseTo(tick.at, 12);
    }
    expect(says(range("linear", 1))).toEqual(["0", "0.5", "1"]);
    expect(says(range("power", 1))).toEqual(["0", "0.3", "1"]); // the middle is 0.25
    expect(says(range("log", 1, { low: 1e-4 }))).toEqual(["10⁻⁴", "0.001", "0.01", "0.1", "1"]);
    expect(says(range("linear", 1, { signed: true }))).toEqual(["−1", "−0.5", "0", "0.5", "1"]);
    expect(says(range("log", 1, { low: 1e-4, signed: true }))).toEqual(["−1", "−0.01", "0", "0.01", "1"]);
  });
  it("steps by hundredths, and never stands still", () => {
    const track = range("linear", 1);
    expect(stepped(0.5, 1, track)).toBe(0.51);
    expect(stepped(0.5, -10, track)).toBe(0.4);
    expect(stepped(1, 1, track)).toBe(1.01); // beyond the end: who may not go there says so
    expect(stepped(0.001, 1, range("log", 1, { low: 1e-4 }))).toBe(0.0011); // 10^(4/100) = 1.096
    expect(rounded(0.123456)).toBe(0.123);
  });
  it("offers the powers of ten it spans", () => {
    expect(decadeChoices(3)).toEqual([1, 2, 3, 4, 6, 8]);
    expect(decadeChoices(4.9)).toEqual([1, 2, 3, 4, 5, 6, 8]);
  });
});

describe("colour", () => {
  it("moves steadily from one end to the other in lightness", () => {
    for (const name of SCALES) {
      for (const theme of ["light", "dark"] as const) {
        const bytes = table(name, theme);
        const sign = moreIsDarker(name, theme) ? -1 : 1;
        for (let i = 8; i < 256; i += 8) expect(sign * (luma(bytes, i) - luma(bytes, i - 8))).toBeGreaterThan(-0.5);
        expect(sign * (luma(bytes, 255) - luma(bytes, 0))).toBeGreaterThan(100);
      }
    }
  });
  it("has the paper in the middle of the two-sided scale, and steady lightness to both sides", () => {
    for (const theme of ["light", "dark"] as const) {
      const bytes = table("balance", theme);
      const paper = theme === "light" ? [251, 250, 247] : [20, 22, 26];
      expect([...bytes.slice(127 * 4, 127 * 4 + 3)]).toEqual(paper);
      expect([...bytes.slice(128 * 4, 128 * 4 + 3)]).toEqual(paper);
      const sign = theme === "light" ? -1 : 1;
      for (let i = 128; i < 248; i += 8) {
        expect(sign * (luma(bytes, i + 8) - luma(bytes, i))).toBeGreaterThan(0);
        expect(sign * (luma(bytes, 255 - i - 8) - luma(bytes, 255 - i))).toBeGreaterThan(0);
      }
    }
  });
  it("tells the two sides apart without red and green", () => {
    // seen without the red cones (Viénot, Brettel & Mollon 1999, linear light left out): blue stays blue, orange yellow
    for (const theme of ["light", "dark"] as const) {
      const bytes = table("balance", theme);
      for (const far of [40, 80, 120]) {
        const [less, more] = [127 - far, 128 + far].map((i) => [...bytes.slice(i * 4, i * 4 + 3)]);
        const yellow = (rgb: number[] | undefined): number => 0.11 * (rgb?.[0] ?? 0) + 0.89 * (rgb?.[1] ?? 0) - (rgb?.[2] ?? 0);
        expect(yellow(more) - yellow(less)).toBeGreaterThan(40);
      }
    }
  });
  it("draws differences with the two-sided scale alone, and nothing else with it", () => {
    expect(scaleOf("magma", true)).toBe("balance");
    expect(scaleOf("magma", false)).toBe("magma");
    expect(scaleOf("balance", false)).toBe("viridis");
  });
  it("clamps", () => {
    expect(colour("viridis", "light")(3)).toBe(colour("viridis", "light")(1));
  });
  it("prints on a colour what can be read", () => {
    expect(readable("#fbfaf7")).toBe("#000000");
    expect(readable("#1d1f23")).toBe("#ffffff");
  });
  it("keeps the colour of what is no number far from all scales", () => {
    const odd = [0, 200, 255];
    for (const name of [...SCALES, "balance"] as const) {
      for (const theme of ["light", "dark"] as const) {
        const bytes = table(name, theme);
        for (let i = 0; i < 256; i++) {
          const far = Math.hypot(...odd.map((part, channel) => part - (bytes[i * 4 + channel] ?? 0)));
          expect(far).toBeGreaterThan(60);
        }
      }
    }
  });
});

const luma = (bytes: Uint8Array, i: number): number =>
  0.299 * (bytes[i * 4] ?? 0) + 0.587 * (bytes[i * 4 + 1] ?? 0) + 0.114 * (bytes[i * 4 + 2] ?? 0);

describe("spread", () => {
  const tile = tileOf([0.9, 0.1, 0.2, 0, 0.05, 0.3], [VALUE, VALUE, VALUE, VALUE, HIDDEN, NOT_A_NUMBER]);
  it("counts the visible numbers alone", () => {
    expect([...ordered([whole(at00, tile)])]).toEqual([0, 0.1, 0.2, 0.9].map(Math.fround));
  });
  it("leaves the pixels of the first token out when asked", () => {
    expect([...ordered([whole(at00, tile)], { leaveFirst: true })]).toEqual([0, 0.1, 0.2].map(Math.fround));
    const second = { zoom: 0, row: 0, column: 1 };
    expect(ordered([whole(second, tile)], { leaveFirst: true })).toHaveLength(4); // its first column is key 256
  });
  it("takes sizes of differences", () => {
    expect([...ordered([whole(at00, tileOf([-0.5, 0.25]))], { signed: true })]).toEqual([0.25, 0.5]);
  });
  it("finds percentiles by rank", () => {
    const values = Float32Array.from({ length: 1000 }, (_, i) => i + 1);
    expect([100, 99.9, 99, 50, 0].map((percent) => percentile(values, percent))).toEqual([1000, 999, 990, 500, 1]);
    expect(percentile(Float32Array.of(7), 99)).toBe(7);
    expect(percentile(new Float32Array(0), 99)).toBeNull();
  });
  it("cuts the tiles to the window", () => {
    const window = { cell: 2, x: -10, y: 0, width: 30, height: 4 };
    const [part] = inView(window, [at00], () => tile) ?? [];
    expect(part).toMatchObject({ top: 0, bottom: 2, left: 5, right: 20 });
    expect(inView(window, [at00], () => undefined)).toBeNull();
  });
});

const usual: Wish = { value: "prob", transfer: "linear", root: 2, range: "unit", clip: null, low: null, high: null, leaveFirst: false };

describe("range", () => {
  const parts = [whole(at00, tileOf([0.9, ...Array.from({ length: 99 }, (_, i) => (i + 1) / 1000)]))]; // 0.001 … 0.099
  it("is 0 to 1 unless asked: nothing in the window can move it", () => {
    expect(rangeOf(usual, 0.3, false)).toEqual(range("linear", 1));
    expect(measured(usual)).toBe(false);
  });
  it("has no 1 to end at where values are lengths", () => {
    expect(upto({ ...usual, value: "value_norm" })).toBe("max");
    expect(rangeOf({ ...usual, value: "value_norm" }, 7.5, false).high).toBe(7.5);
  });
  it("ends at the largest or at a percentile, with or without the first token", () => {
    expect(endOf(parts, { clip: null, leaveFirst: false }, false)).toBeCloseTo(0.9, 6);
    expect(endOf(parts, { clip: 99, leaveFirst: false }, false)).toBeCloseTo(0.099, 6); // 99 of 100
    expect(endOf(parts, { clip: null, leaveFirst: true }, false)).toBeCloseTo(0.099, 6);
  });
  it("is what a hand has set, whatever was found", () => {
    expect(rangeOf({ ...usual, range: "max", low: 0.01, high: 0.2 }, 0.9, false)).toMatchObject({ low: 0.01, high: 0.2 });
  });
  it("fits to what is there and nothing falls outside", () => {
    expect(fitted([whole(at00, tileOf([0.90625, 0.00390625]))], usual, false)).toEqual({ low: 0.0039, high: 0.907 });
  });
  it("fits a percentile when one is chosen", () => {
    expect(fitted(parts, { ...usual, clip: 99 }, false)).toMatchObject({ high: 0.099 });
  });
  it("fits the floor of a logarithmic scale to the least that is not nothing", () => {
    const some = [whole(at00, tileOf([0, 0.5, 0.002]))];
    expect(fitted(some, { ...usual, transfer: "log" }, false)).toEqual({ low: 0.002, high: 0.5 });
    expect(fitted([whole(at00, tileOf([0.5, 1e-20]))], { ...usual, transfer: "log" }, false)).toEqual({ low: 5e-7, high: 0.5 });
  });
  it("fits both sides of a difference alike", () => {
    expect(fitted([whole(at00, tileOf([-0.25, 0.125]))], usual, true)).toEqual({ low: null, high: 0.25 });
  });
  it("has nothing to fit to where nothing is", () => {
    expect(fitted([], usual, false)).toBeNull();
    expect(fitted([whole(at00, tileOf([0, 0]))], usual, false)).toBeNull();
  });
});

describe("a measured range", () => {
  const wish = { ...usual, range: "max" as const, reduce: "max" };
  const ask = (measure: Measure, tile: Tile | null, more = {}) =>
    measure.take({
      map: "a",
      wish,
      signed: false,
      coarsest: tile === null ? null : { place: { zoom: 3, row: 0, column: 0 }, tile },
      wholeIsExact: true,
      view: () => null,
      ...more,
    });
  it("is taken from the picture of the whole map, once", () => {
    const measure = new Measure();
    expect(ask(measure, null)).toBeNull();
    const tile = tileOf([0.5]);
    const found = ask(measure, tile);
    expect(found).toEqual({ end: 0.5, zoom: 3, whole: true });
    expect(ask(measure, tile)).toBe(found);
    expect(ask(measure, null)).toBe(found); // the tile may leave the cache; the colours stay
    expect(ask(measure, tileOf([0.75]))?.end).toBe(0.75); // the preview has given way to the exact one
    expect(ask(measure, null, { map: "b" })).toBeNull();
  });
  it("is taken from what is in view where no picture of the whole is exact, and stays", () => {
    const measure = new Measure();
    const first = ask(measure, null, { wholeIsExact: false, view: () => [whole(at00, tileOf([0.25]))] });
    expect(first).toEqual({ end: 0.25, zoom: 0, whole: false });
    expect(ask(measure, null, { wholeIsExact: false, view: () => [whole(at00, tileOf([0.9]))] })).toBe(first);
  });
  it("is not measured when the range is fixed", () => {
    expect(ask(new Measure(), tileOf([0.5]), { wish: { ...wish, range: "unit" } })).toBeNull();
  });
});

describe("the address of the colours", () => {
  const parse = (text: string) => parseAddress(new URLSearchParams(text));
  it("reads old links as they were meant", () => {
    expect(parse("scale=linear&range=max&colour=ink")).toMatchObject({ transfer: "linear", range: "max", colour: "ink", clip: null, low: null, high: null, leaveFirst: false });
  });
  it("keeps nothing that is usual", () => {
    expect(writeAddress(parse("")).toString()).toBe("");
  });
  it("keeps what was set, in few letters", () => {
    const link = "scale=power&root=3&clip=99.9&low=0.002&high=0.3&first=out";
    expect(writeAddress(parse(link)).toString()).toBe(link);
  });
  it("leaves out what makes no sense", () => {
    expect(parse("high=-1&low=x&clip=12&root=100&scale=odd")).toMatchObject({ high: null, low: null, clip: null, root: 9, transfer: "log" });
  });
});

describe("numbers in cells", () => {
  const prob = { bounded: true, signed: false };
  it("have three decimals, and what is not 0 never reads as 0", () => {
    expect([0.473, 1, 0, 0.0004, 1e-12].map((value) => cellValue(value, prob, "en"))).toEqual(["0.473", "1.000", "0.000", "<0.001", "<0.001"]);
    expect(cellValue(0.5, prob, "cs")).toBe("0,500");
  });
  it("have three digits where they are lengths", () => {
    const length = { bounded: false, signed: false };
    expect([0.25, 2.345, 31.42, 123.4, 12345].map((value) => cellValue(value, length, "en"))).toEqual(["0.250", "2.35", "31.4", "123", "1.2·10⁴"]);
  });
  it("have a sign where they are differences", () => {
    const difference = { bounded: true, signed: true };
    expect([0.125, -0.125, 0, 1e-5, -1e-5].map((value) => cellValue(value, difference, "en"))).toEqual(["+0.125", "−0.125", "0.000", "+0", "−0"]);
  });
  it("are short under the legend", () => {
    expect([0, 1, 0.5, 0.001, 1e-4, 2.5e-5, 0.0312, 12.5, 250, -0.25].map((value) => scaleValue(value, "en"))).toEqual(["0", "1", "0.5", "0.001", "10⁻⁴", "2.5·10⁻⁵", "0.0312", "12.5", "250", "−0.25"]);
    expect([0, 2.345, 0.0123, 1e-5, -3.1].map((value) => three(value, "en"))).toEqual(["0", "2.35", "0.0123", "1.00·10⁻⁵", "−3.10"]);
  });
});

const GREY = [230, 227, 220] as const;
const paint: Paint = { table: table("viridis", "light"), range: range("linear", 1), mask: GREY, maskLine: [200, 200, 200], odd: [0, 200, 255], onOdd: [0, 0, 0], paper: [251, 250, 247] };

/** The colours of device pixels, as numbers 0xRRGGBB. */
function painted(tile: Tile, pixel: number, points: readonly (readonly [number, number])[], ratio = 1): string[] {
  const picture: Picture = { pixels: new Uint32Array(400 * 400), width: 400, height: 400, ratio };
  lay(picture, { name: "", x: 0, y: 0, pixel, fromCorner: [0, 0], opacity: 1 }, tile, colours(tile, paint), paint);
  return points.map(([x, y]) => {
    const word = picture.pixels[y * 400 + x] ?? 0;
    return [word & 255, (word >>> 8) & 255, (word >>> 16) & 255].map((part) => part.toString(16).padStart(2, "0")).join("");
  });
}

describe("a picture without WebGL", () => {
  it("has the colours of the table", () => {
    const hex = (i: number): string => [...paint.table.slice(i * 4, i * 4 + 3)].map((part) => part.toString(16).padStart(2, "0")).join("");
    expect(painted(tileOf([0, 1, 0.5]), 8, [[4, 4], [12, 4], [20, 4]])).toEqual([hex(0), hex(255), hex(128)]);
    expect(painted(tileOf([0, 1, 0.5]), 4, [[4, 4], [12, 4], [20, 4]], 2)).toEqual([hex(0), hex(255), hex(128)]);
  });
  it("leaves free what is outside and hatches what is hidden", () => {
    const tile = tileOf([0, 0], [HIDDEN, OUTSIDE]);
    const along = painted(tile, 7, Array.from({ length: 7 }, (_, x) => [x, 0] as const));
    expect(along.filter((one) => one === "c8c8c8")).toHaveLength(1); // every 7th is a line
    expect(along.filter((one) => one === "e6e3dc")).toHaveLength(6);
    expect(painted(tile, 7, [[9, 3]])).toEqual(["000000"]);
  });
  it("draws a sign for each kind of what is not finite", () => {
    const tile = tileOf([0, 0, 0], [NOT_A_NUMBER, PLUS_INFINITY, MINUS_INFINITY]);
    const sign = (cell: number): string =>
      Array.from({ length: 11 }, (_, y) => painted(tile, 11, Array.from({ length: 11 }, (_, x) => [cell * 11 + x, y] as const)).map((one) => (one === "000000" ? "#" : ".")).join("")).join("\n");
    const [nan, plus, minus] = [sign(0), sign(1), sign(2)];
    expect(new Set([nan, plus, minus]).size).toBe(3);
    expect(plus.split("\n").reverse().join("\n")).toBe(minus); // up and down
    expect(nan.split("\n")[5]?.[5]).toBe("#"); // the cross meets in the middle
    expect(nan.split("\n")[5]?.[2]).toBe(".");
    for (const one of [nan, plus, minus]) expect(one.split("#").length).toBeGreaterThan(10);
  });
  it("has the odd colour alone where a sign would have no room", () => {
    const tile = tileOf([0], [NOT_A_NUMBER]);
    expect(painted(tile, 3, [[1, 1]])).toEqual(["00c8ff"]);
    expect(inGlyph(NOT_A_NUMBER, 0.5, 0.5, 60)).toBe(false); // there the word stands
    expect([NOT_A_NUMBER, PLUS_INFINITY, MINUS_INFINITY, VALUE].map(oddText)).toEqual(["NaN", "+∞", "−∞", null]);
  });
  it("parts wide cells by a hair of paper", () => {
    const [edge, middle] = painted(tileOf([1, 1]), 20, [[20, 10], [30, 10]]);
    expect(edge).not.toBe(middle);
  });
  it("lets a new tile fade in over an old one", () => {
    const picture: Picture = { pixels: new Uint32Array(16), width: 4, height: 4, ratio: 1 };
    const placed = { name: "", x: 0, y: 0, pixel: 4, fromCorner: [0, 0] as const, opacity: 1 };
    const [black, white] = [tileOf([0]), tileOf([1])];
    const ink = { ...paint, table: table("ink", "dark") };
    lay(picture, placed, black, colours(black, ink), ink);
    lay(picture, { ...placed, opacity: 0.5 }, white, colours(white, ink), ink);
    expect((picture.pixels[0] ?? 0) & 255).toBe(Math.round((20 + 244) / 2));
    expect((picture.pixels[0] ?? 0) >>> 24).toBe(255);
    const faint: Picture = { ...picture, pixels: new Uint32Array(16) };
    lay(faint, { ...placed, opacity: 0.5 }, white, colours(white, ink), ink);
    expect((faint.pixels[0] ?? 0) >>> 24).toBe(128); // over nothing it is half there
  });
});
