// From a value to a place on the colour scale, 0…1, and back: linear, by a power, or logarithmic. Pure arithmetic.

export const TRANSFERS = ["linear", "power", "log"] as const;
export type Transfer = (typeof TRANSFERS)[number];
export const ROOTS = [2, 3, 4] as const; // the power is 1/2, 1/3, 1/4

/** Unless somebody asks otherwise, a logarithmic scale spans so many powers of ten below the largest value. */
export const LOG_DECADES = 3;

export interface Range {
  transfer: Transfer;
  root: number; // of "power": the place is the root-th root
  /** What has the least colour: 0 unless asked, for log the floor. Of a signed range: what is no different from 0. */
  low: number;
  high: number; // what has the strongest colour; > low
  /** Values go from −high to high, and 0 lies in the middle. */
  signed: boolean;
}

interface Asked {
  root?: number;
  low?: number | null; // null: the usual
  signed?: boolean;
}

/** A range that can be drawn: without a usable high it ends at 1, a low that is not below high is left out. */
export function range(transfer: Transfer, high: number, { root = 2, low = null, signed = false }: Asked = {}): Range {
  const top = high > 0 && Number.isFinite(high) ? high : 1;
  const usual = transfer === "log" ? top * 10 ** -LOG_DECADES : 0;
  const usable = low !== null && low < top && low >= 0 && (transfer === "log" ? low > 0 : !signed);
  return { transfer, root, low: usable ? low : usual, high: top, signed };
}

export function place(value: number, whole: Range): number {
  const share = magnitude(whole.signed ? Math.abs(value) : value, whole);
  return whole.signed ? 0.5 + (Math.sign(value) * share) / 2 : share;
}

/** The value that lies at a place: the inverse of `place` for what is not clamped. */
export function valueAt(at: number, whole: Range): number {
  const share = Math.min(1, Math.max(0, whole.signed ? Math.abs(at - 0.5) * 2 : at));
  if (whole.signed && share === 0) return 0;
  const { low, high } = whole;
  const value = whole.transfer === "log" ? low * (high / low) ** share : low + (high - low) * share ** (whole.transfer === "power" ? whole.root : 1);
  return whole.signed && at < 0.5 ? -value : value;
}

function magnitude(value: number, { transfer, root, low, high }: Range): number {
  if (transfer === "log") return clamp(Math.log(Math.max(value, low) / low) / Math.log(high / low));
  const share = clamp((value - low) / (high - low));
  return transfer === "power" ? share ** (1 / root) : share;
}

const clamp = (share: number): number => Math.min(1, Math.max(0, share));
