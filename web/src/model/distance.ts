// Attention by distance: how much of a row goes to keys 0, 1, 2–3, 4–7, … tokens back, and as far ahead.

export interface Bin {
  /** Tokens back; of keys ahead, negative. */
  from: number;
  to: number; // the farthest, with it
  part: number;
}

/**
 * `probs` of one query; `query` is its place among the keys. Bins as pozor's observable `distance` has them, up to the
 * farthest visible key; those ahead first, the farthest of them first. NaN where a part is not finite.
 */
export function byDistance(probs: readonly (number | null)[], visible: readonly boolean[], query: number): Bin[] {
  const back: number[] = []; // bin 0: the query itself; bin b: 2^(b-1) … 2^b - 1 tokens
  const ahead: number[] = [];
  for (let key = 0; key < probs.length; key++) {
    if (visible[key] !== true) continue;
    const distance = query - key;
    const side = distance >= 0 ? back : ahead;
    const bin = distance === 0 ? 0 : Math.floor(Math.log2(Math.abs(distance))) + 1;
    while (side.length <= bin) side.push(0);
    side[bin] = (side[bin] ?? 0) + (probs[key] ?? NaN);
  }
  const bin = (part: number, index: number, sign: 1 | -1): Bin =>
    index === 0 ? { from: 0, to: 0, part } : { from: sign * 2 ** (index - 1), to: sign * (2 ** index - 1), part };
  return [
    ...ahead.map((part, index) => bin(part, index, -1)).slice(1).reverse(),
    ...back.map((part, index) => bin(part, index, 1)),
  ];
}
