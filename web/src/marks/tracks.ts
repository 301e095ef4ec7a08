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
  const together = Math.max(1, Math.ceil(1 / cell)); // tokens in one pixel
  const gap = cell >= 6 ? 1 : 0;
  for (let index = first - (first % together); index <= last; index += together) {
    let value = 0;
    for (let i = index; i < Math.min(length, index + together); i++) value = Math.max(value, track.values[i] || 0);
    const size = Math.min(1, value / track.most) * (thickness - 2);
    const lit = track.lit !== null && track.lit >= index && track.lit < index + together;
    pen.fillStyle = lit ? track.strong : track.color;
    const at = offset + index * cell;
    const long = Math.max(1, cell * together - gap);
    if (along === "y") pen.fillRect(0, at, Math.max(size, 0.5), long);
    else pen.fillRect(at, 0, long, Math.max(size, 0.5));
  }
}
