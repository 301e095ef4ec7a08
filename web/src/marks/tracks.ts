// Thin tracks beside the map: one bar a token, or the largest of those that share a pixel.

export interface Track {
  values: ArrayLike<number>; // NaN: none
  most: number; // the value of a full bar
  cell: number; // CSS pixels a token
  offset: number; // pixel of token 0's edge
  extent: number; // pixels along
  thickness: number; // pixels across
  color: string;
  strong: string; // the locked or pointed one
  lit: number | null;
}

/** `along` "y": bars grow to the right (entropy); "x": bars grow downwards (received). */
export function drawTrack(pen: CanvasRenderingContext2D, ratio: number, along: "x" | "y", track: Track): void {
  const { cell, offset, extent, thickness } = track;
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const [width, height] = along === "y" ? [thickness, extent] : [extent, thickness];
  pen.clearRect(0, 0, width, height);
  const length = track.values.length;
  const first = Math.max(0, Math.floor(-offset / cell));
  const last = Math.min(length - 1, Math.floor((extent - offset) / cell));
  const gap = cell >= 6 ? 1 : 0;
  const edge = (at: number): number => Math.round(at * ratio) / ratio; // bars that share a pixel would darken it
  for (let index = first; index <= last; ) {
    const from = edge(offset + index * cell);
    let [value, lit, next] = [0, false, index];
    // the largest of those that begin in one pixel of the screen
    for (; next <= last && (next === index || edge(offset + next * cell) === from); next++) {
      value = Math.max(value, track.values[next] || 0);
      lit ||= next === track.lit;
    }
    pen.fillStyle = lit ? track.strong : track.color;
    const size = Math.max(0.5, Math.min(1, value / track.most) * (thickness - 2));
    const long = Math.max(1 / ratio, edge(offset + next * cell) - from - gap);
    if (along === "y") pen.fillRect(0, from, size, long);
    else pen.fillRect(from, 0, long, size);
    index = next;
  }
}
