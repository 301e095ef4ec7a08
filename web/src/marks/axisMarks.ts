// Marks along the edges of the map: where on the axes the places stand that were found. One mark a pixel is enough.
import type { Window } from "../scales/tileGrid";

const SIZE = 6; // CSS pixels

export interface Marks {
  /** Token ranges, ordered. */
  hits: readonly { first: number; last: number }[];
  now: number | null; // of `hits`, the one that is looked at
  shift: number; // the token of query 0
  color: string;
  strong: string;
}

export function drawMarks(pen: CanvasRenderingContext2D, window: Window, size: { queries: number; keys: number }, marks: Marks): void {
  const draw = (along: "x" | "y", length: number, shift: number): void => {
    const extent = along === "x" ? window.width : window.height;
    const offset = along === "x" ? window.x : window.y;
    let last = -Infinity;
    const one = (hit: { first: number; last: number }, strong: boolean): void => {
      const [from, to] = [hit.first - shift, hit.last - shift + 1];
      if (to <= 0 || from >= length) return;
      const middle = offset + ((Math.max(0, from) + Math.min(length, to)) / 2) * window.cell;
      if (middle < 0 || middle > extent) return;
      if (!strong && middle - last < 1) return;
      last = middle;
      pen.fillStyle = strong ? marks.strong : marks.color;
      const half = strong ? SIZE : SIZE - 2;
      pen.beginPath();
      if (along === "x") {
        pen.moveTo(middle - half, 0);
        pen.lineTo(middle + half, 0);
        pen.lineTo(middle, half * 1.6);
      } else {
        pen.moveTo(0, middle - half);
        pen.lineTo(0, middle + half);
        pen.lineTo(half * 1.6, middle);
      }
      pen.closePath();
      pen.fill();
      pen.strokeStyle = "rgba(255,255,255,0.9)";
      pen.lineWidth = 1;
      pen.stroke();
    };
    for (const hit of marks.hits) one(hit, false);
    const now = marks.now === null ? undefined : marks.hits[marks.now];
    if (now !== undefined) one(now, true);
  };
  draw("x", size.keys, 0);
  draw("y", size.queries, marks.shift);
}
