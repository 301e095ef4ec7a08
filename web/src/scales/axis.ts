// Which tokens of an axis get a label: all when there is room, else every 2nd, 5th, 10th, 20th …

/** The step between labels so that two of them are at least `gap` pixels apart. */
export function step(cell: number, gap: number): number {
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) {
      if (cell * digit * power >= gap) return digit * power;
    }
  }
}

/**
 * The indices whose labels are shown between pixels 0 and `extent`.
 * `offset` is the pixel of index 0's edge. `always` (the pointed or locked ones) push out labels near them.
 */
export function shown(
  length: number,
  cell: number,
  offset: number,
  extent: number,
  gap: number,
  always: readonly number[] = [],
): number[] {
  if (length <= 0 || !(cell > 0)) return [];
  // those whose middle is in the window: a label hangs on the middle
  const first = Math.max(0, Math.ceil(-offset / cell - 0.5));
  const last = Math.min(length - 1, Math.floor((extent - offset) / cell - 0.5));
  const each = step(cell, gap);
  const kept = new Set(always.filter((index) => index >= first && index <= last));
  const held = [...kept];
  const clear = each === 1 ? gap : gap * 1.4; // where there is room for all of them, nothing is pushed out
  for (let index = Math.ceil(first / each) * each; index <= last; index += each) {
    if (held.every((other) => other === index || Math.abs(other - index) * cell >= clear)) kept.add(index);
  }
  return [...kept].sort((a, b) => a - b);
}

/** The indices of the labels that stand on the axis more than once: alone they would not say which one is meant. */
export function repeated(labels: readonly string[]): Set<number> {
  const times = new Map<string, number>();
  for (const label of labels) times.set(label, (times.get(label) ?? 0) + 1);
  return new Set(labels.flatMap((label, index) => ((times.get(label) ?? 0) > 1 ? [index] : [])));
}
