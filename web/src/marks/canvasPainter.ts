// The fallback without WebGL: the same picture, computed pixel by pixel and put on a plain canvas.
import type { Tile } from "../read/tile";
import { fit } from "./fit";
import type { Paint, Painter, Placed } from "./painter";
import { colours, lay } from "./softPainting";

interface Held {
  tile: Tile;
  colours: Uint32Array | null;
  painted: string; // for which paint
}

export function canvasPainter(): Painter {
  const canvas = document.createElement("canvas");
  const held = new Map<string, Held>();
  const pen = canvas.getContext("2d");
  let ratio = 1;
  let tables = 0;
  const names = new WeakMap<Uint8Array, number>();
  let image: ImageData | null = null;

  function nameOf({ table, range }: Paint): string {
    if (!names.has(table)) names.set(table, ++tables);
    return [names.get(table), ...Object.values(range)].join();
  }

  return {
    canvas,
    kind: "canvas",
    upload: (name, tile) => void held.set(name, { tile, colours: null, painted: "" }),
    drop: (name) => void held.delete(name),
    resize(width, height, newRatio): void {
      ratio = newRatio;
      fit(canvas, width, height, ratio);
    },
    draw(tiles: readonly Placed[], paint: Paint): void {
      if (pen === null) return;
      const { width, height } = canvas;
      if (image?.width !== width || image.height !== height) image = pen.createImageData(width, height);
      const pixels = new Uint32Array(image.data.buffer);
      pixels.fill(0);
      const wanted = nameOf(paint);
      for (const placed of tiles) {
        const one = held.get(placed.name);
        if (one === undefined) continue;
        if (one.colours === null || one.painted !== wanted) {
          one.colours = colours(one.tile, paint);
          one.painted = wanted;
        }
        lay({ pixels, width, height, ratio }, placed, one.tile, one.colours, paint);
      }
      pen.putImageData(image, 0, 0);
    },
    dispose(): void {
      held.clear();
      canvas.remove();
    },
  };
}
