// One head as a picture: a pixel a cell.
import { rgb } from "d3-color";
import { table, type Theme } from "../scales/colour";
import type { Attention } from "./attention";

export function draw(canvas: HTMLCanvasElement, attention: Attention, layer: number, head: number, theme: Theme): void {
  const side = attention.tokens;
  const pen = canvas.getContext("2d");
  if (pen === null) return;
  canvas.width = canvas.height = side;
  const image = pen.createImageData(side, side);
  const colours = table(theme === "light" ? "ink" : "viridis", theme);
  const mask = rgb(getComputedStyle(canvas).getPropertyValue("--mask"));
  for (let query = 0; query < side; query++) {
    const row = attention.row(layer, head, query);
    for (let key = 0; key < side; key++) {
      const at = 4 * (query * side + key);
      if (key < row.length) {
        const entry = 4 * Math.min(255, Math.max(0, Math.round((row[key] ?? 0) * 255)));
        image.data.set(colours.subarray(entry, entry + 4), at);
      } else image.data.set([mask.r, mask.g, mask.b, 255], at);
    }
  }
  pen.putImageData(image, 0, 0);
}
