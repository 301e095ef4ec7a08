// What an engine must be able to do with one panel: some queries × some keys of one head, in float64.

/** Queries of a panel at most. */
export const ROWS = 32;
/** Pixels of a panel at most: 32 lines of 1,024. */
export const PIXELS = 32_768;

/** Pixels of cells: 0 where nothing is visible; a NaN that is visible stays. */
export interface Pooled {
  most: Float64Array;
  total: Float64Array;
  seen: Int32Array;
}

/**
 * One panel at a time. Runs say which of its cells are visible: three numbers each, row of the panel, first key of the
 * panel, one past the last. What a method reads it copies; what `pixels`, `received` and `panel` give holds until the next call.
 */
export interface Kernel {
  readonly kind: "wasm" | "js";
  /** Take the keys of a head, (keys, dim), and the weight of each key, where there is one. dim 0: only their number. */
  load(k: Float32Array, weight: Float32Array | null, dim: number, keys: number): void;
  /** Panel = scale · q kᵀ of `rows` queries (rows, dim), then softcap (cap 0: none). */
  logits(q: Float32Array, rows: number, firstKey: number, keys: number, scale: number, cap: number): void;
  /** Panel = values, (rows, keys), that are there already. */
  fill(values: Float32Array, rows: number, firstKey: number, keys: number): void;
  see(runs: Int32Array, count: number): void;
  /** Running maximum and sum of exp(logit − maximum) of each row over what is visible. */
  gather(most: Float64Array, sum: Float64Array): void;
  /** What is visible becomes exp(logit − lse), 0 where lse is −∞; adds −Σ p (logit − lse) to the entropy of each row. */
  weigh(lse: Float64Array, entropy: Float64Array): void;
  /** What is visible, in pixels of 2^down rows × 2^right keys, `across` a line. */
  pixels(weighted: boolean, down: number, right: number, across: number, lines: number): Pooled;
  /** Sum and number of the visible for each key of the panel. */
  received(): { total: Float64Array; seen: Int32Array };
  /** The numbers themselves, `stride` a row. */
  panel(): { values: Float64Array; stride: number };
}
