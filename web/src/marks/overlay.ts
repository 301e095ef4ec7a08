// What lies over the tiles: the crosshair, the locked row, column or cell, and numbers in cells that are large enough.
import type { Window } from "../scales/tileGrid";
import { NUMBERS_FROM } from "./glyphs";

export interface Spot {
  query: number | null;
  key: number | null;
}

export interface Overlay {
  window: Window;
  queries: number;
  keys: number;
  point: Spot | null; // under the pointer, or moved by the arrows
  lock: Spot;
  block: number; // cells along the side of a drawn pixel: what the crosshair can tell apart
  ink: string;
  /** What is printed in a cell, with the colour that can be read on it; null prints nothing. */
  number: (query: number, key: number) => { text: string; color: string } | null;
  font: string;
}

export function drawOverlay(pen: CanvasRenderingContext2D, ratio: number, overlay: Overlay): void {
  const { window } = overlay;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, window.width, window.height);
  if (window.cell >= NUMBERS_FROM) drawNumbers(pen, overlay);
  if (overlay.point !== null) drawCrosshair(pen, overlay, overlay.point);
  drawLock(pen, overlay);
}

interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

/** The rectangle of a row, a column or a cell; whole blocks where a pixel stands for many cells. */
function box({ window, queries, keys, block }: Overlay, { query, key }: Spot): Box {
  const span = (index: number | null, length: number): [number, number] => {
    if (index === null) return [0, length];
    const from = Math.floor(index / block) * block;
    return [from, Math.min(length, from + block)];
  };
  const [top, bottom] = span(query, queries);
  const [left, right] = span(key, keys);
  return {
    x: window.x + left * window.cell,
    y: window.y + top * window.cell,
    w: (right - left) * window.cell,
    h: (bottom - top) * window.cell,
  };
}

function drawNumbers(pen: CanvasRenderingContext2D, overlay: Overlay): void {
  const { window, queries, keys } = overlay;
  pen.font = overlay.font;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const first = (offset: number): number => Math.max(0, Math.floor(-offset / window.cell));
  const last = (offset: number, extent: number, length: number): number =>
    Math.min(length - 1, Math.floor((extent - offset) / window.cell));
  for (let query = first(window.y); query <= last(window.y, window.height, queries); query++) {
    for (let key = first(window.x); key <= last(window.x, window.width, keys); key++) {
      const said = overlay.number(query, key);
      if (said === null) continue;
      pen.fillStyle = said.color;
      pen.fillText(said.text, window.x + (key + 0.5) * window.cell, window.y + (query + 0.5) * window.cell + 1);
    }
  }
}

const CLEAR = 5; // CSS pixels around the pointed cell stay free, or the crosshair would cover what it points at

function drawCrosshair(pen: CanvasRenderingContext2D, overlay: Overlay, point: Spot): void {
  const at = box(overlay, point);
  const row = point.query === null ? null : box(overlay, { query: point.query, key: null });
  const column = point.key === null ? null : box(overlay, { query: null, key: point.key });
  pen.save();
  if (row !== null && column !== null) {
    pen.beginPath();
    pen.rect(0, 0, overlay.window.width, overlay.window.height);
    pen.rect(at.x - CLEAR, at.y - CLEAR, at.w + 2 * CLEAR, at.h + 2 * CLEAR);
    pen.clip("evenodd");
  }
  for (const [color, width] of [
    ["rgba(255,255,255,0.75)", 3],
    [overlay.ink, 1],
  ] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = width;
    for (const band of [row, column]) if (band !== null) strokeBand(pen, band);
  }
  pen.restore();
  if (row !== null && column !== null && at.w >= 4) {
    pen.strokeStyle = overlay.ink;
    pen.lineWidth = 1;
    strokeAround(pen, { x: at.x - 1, y: at.y - 1, w: at.w + 2, h: at.h + 2 });
  }
}

function drawLock(pen: CanvasRenderingContext2D, overlay: Overlay): void {
  const { query, key } = overlay.lock;
  if (query === null && key === null) return;
  const frame = box(overlay, overlay.lock);
  if (query !== null && key !== null) {
    // the cell in its row and column: thin bands lead the eye to the axes
    pen.strokeStyle = overlay.ink;
    pen.lineWidth = 1;
    pen.setLineDash([2, 3]);
    strokeBand(pen, box(overlay, { query, key: null }));
    strokeBand(pen, box(overlay, { query: null, key }));
    pen.setLineDash([]);
  }
  // outside the frame, so that what is locked stays visible; white and ink, so that it shows on any colour
  for (const [color, out] of [
    ["#1d1f23", 3],
    ["#ffffff", 1],
  ] as const) {
    pen.strokeStyle = color;
    pen.lineWidth = 2;
    pen.strokeRect(frame.x - out, frame.y - out, frame.w + 2 * out, frame.h + 2 * out);
  }
}

/** The edges of a row or column; one line where it is too thin for two. */
function strokeBand(pen: CanvasRenderingContext2D, band: Box): void {
  if (band.h >= 5 && band.w >= 5) return strokeAround(pen, band);
  const [x, y] = [Math.floor(band.x + band.w / 2) + 0.5, Math.floor(band.y + band.h / 2) + 0.5];
  pen.beginPath();
  pen.moveTo(band.h < 5 ? band.x : x, band.h < 5 ? y : band.y);
  pen.lineTo(band.h < 5 ? band.x + band.w : x, band.h < 5 ? y : band.y + band.h);
  pen.stroke();
}

function strokeAround(pen: CanvasRenderingContext2D, { x, y, w, h }: Box): void {
  pen.strokeRect(Math.round(x) + 0.5, Math.round(y) + 0.5, Math.max(1, Math.round(w) - 1), Math.max(1, Math.round(h) - 1));
}
