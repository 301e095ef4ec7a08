// What draws the tiles of a map. Two make the same picture: WebGL 2, and a plain canvas where that is missing.
import type { Tile } from "../read/tile";
import type { Range } from "../scales/transfer";
import { canvasPainter } from "./canvasPainter";
import { webglPainter } from "./webglPainter";

export type Rgb = readonly [number, number, number]; // 0…255

/** How values become colours; nothing here depends on the window, so panning never changes a colour. */
export interface Paint {
  table: Uint8Array; // 256 RGBA entries, least to most
  range: Range;
  mask: Rgb; // what may not be seen
  maskLine: Rgb; // its hatching
  odd: Rgb; // what is no finite number: a colour that no scale has
  onOdd: Rgb; // its glyph
  paper: Rgb;
}

/** A tile on the screen, in CSS pixels; `pixel` is the side of one of its 256 × 256 values. */
export interface Placed {
  name: string;
  x: number;
  y: number;
  pixel: number;
  /** The tile's corner, measured from the corner of the matrix: the hatching runs on over tiles. */
  fromCorner: readonly [number, number];
  opacity: number;
}

export interface Painter {
  readonly canvas: HTMLCanvasElement;
  readonly kind: "webgl" | "canvas";
  upload(name: string, tile: Tile): void;
  drop(name: string): void;
  resize(width: number, height: number, ratio: number): void;
  draw(tiles: readonly Placed[], paint: Paint): void;
  dispose(): void;
}

/** The best painter that this browser offers; `lost` is called when it stops working. */
export function makePainter(lost: () => void): Painter {
  return webglPainter(lost) ?? canvasPainter();
}

export { canvasPainter };
