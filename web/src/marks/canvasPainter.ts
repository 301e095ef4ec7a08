// The fallback without WebGL: each tile is coloured once into a small canvas and drawn without smoothing.
import { HIDDEN, NOT_A_NUMBER, OUTSIDE, type Tile } from "../read/tile";
import { TILE } from "../scales/tileGrid";
import { place } from "../scales/transfer";
import { fit } from "./fit";
import type { Paint, Painter, Placed, Rgb } from "./painter";

interface Held {
  tile: Tile;
  picture: HTMLCanvasElement;
  painted: string; // for which colours
}

export function canvasPainter(): Painter {
  const canvas = document.createElement("canvas");
  const held = new Map<string, Held>();
  const pen = canvas.getContext("2d");
  let ratio = 1;
  let paints = 0;
  const names = new WeakMap<Uint8Array, number>();

  function nameOf({ table, range, mask, ink, paper }: Paint): string {
    if (!names.has(table)) names.set(table, ++paints);
    return [names.get(table), range.transfer, range.low, range.high, mask, ink, paper].join();
  }

  return {
    canvas,
    kind: "canvas",
    upload(name, tile): void {
      const picture = document.createElement("canvas");
      picture.width = TILE;
      picture.height = TILE;
      held.set(name, { tile, picture, painted: "" });
    },
    drop: (name) => void held.delete(name),
    resize(width, height, newRatio): void {
      ratio = newRatio;
      fit(canvas, width, height, ratio);
    },
    draw(tiles: readonly Placed[], paint: Paint): void {
      if (pen === null) return;
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      pen.clearRect(0, 0, canvas.width, canvas.height);
      pen.imageSmoothingEnabled = false;
      const wanted = nameOf(paint);
      for (const tile of tiles) {
        const one = held.get(tile.name);
        if (one === undefined) continue;
        if (one.painted !== wanted) {
          colourIn(one, paint);
          one.painted = wanted;
        }
        pen.globalAlpha = tile.opacity;
        pen.drawImage(one.picture, tile.x, tile.y, tile.pixel * TILE, tile.pixel * TILE);
      }
      pen.globalAlpha = 1;
    },
    dispose(): void {
      held.clear();
      canvas.remove();
    },
  };
}

function colourIn({ tile, picture }: Held, paint: Paint): void {
  const pen = picture.getContext("2d");
  if (pen === null) return;
  const image = pen.createImageData(TILE, TILE);
  const put = (i: number, [r, g, b]: Rgb): void => image.data.set([r, g, b, 255], i * 4);
  for (let i = 0; i < TILE * TILE; i++) {
    const state = tile.states[i];
    if (state === OUTSIDE) continue;
    if (state === HIDDEN) put(i, paint.mask);
    else if (state === NOT_A_NUMBER) put(i, paint.ink);
    else {
      const at = Math.round(place(tile.values[i] ?? 0, paint.range) * 255) * 4;
      image.data.set(paint.table.subarray(at, at + 4), i * 4);
    }
  }
  pen.putImageData(image, 0, 0);
}
