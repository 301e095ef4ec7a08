// A track draws each pixel once: bars that overlapped would show bands that are not in the data.
import { describe, expect, it } from "vitest";
import { drawTrack } from "../src/marks/tracks";

type Bar = [x: number, y: number, width: number, height: number];

function drawn(tokens: number, cell: number, offset = 0, ratio = 1): Bar[] {
  const bars: Bar[] = [];
  const pen = { setTransform: () => undefined, clearRect: () => undefined, fillRect: (...bar: Bar) => bars.push(bar), fillStyle: "" };
  const values = Float32Array.from({ length: tokens }, (_, i) => (i % 7 === 0 ? 1 : 0.25));
  const track = { values, most: 1, cell, offset, extent: 400, thickness: 40, color: "grey", strong: "red", lit: null };
  drawTrack(pen as unknown as CanvasRenderingContext2D, ratio, "y", track);
  return bars;
}

describe("a track", () => {
  for (const [tokens, cell, ratio] of [[8192, 0.0537, 1], [131072, 0.003, 2], [900, 0.73, 1.5], [40, 9, 1]] as const) {
    it(`of ${tokens} tokens at ${cell} px has bars that follow one another`, () => {
      const bars = drawn(tokens, cell, 0, ratio);
      const ends = bars.map(([, y, , height]) => y + height);
      bars.slice(1).forEach(([, y], i) => expect(y).toBeGreaterThanOrEqual((ends[i] ?? 0) - 1e-9));
    });
  }
  it("shows the largest of the tokens of a pixel", () => {
    expect(drawn(8192, 0.0537).every(([, , size]) => size === 38)).toBe(true); // 18 tokens a pixel: one of them is the 1
  });
});
