// From a value to a place on the colour scale, 0…1, linear or logarithmic; and back to the ticks of a legend.

export type Transfer = "linear" | "log";

/** A logarithmic scale spans so many powers of ten below the largest value; what is smaller has the least colour. */
export const LOG_DECADES = 3;

export interface Range {
  transfer: Transfer;
  low: number; // 0 for linear; the floor for log
  high: number;
}

export function range(transfer: Transfer, high: number): Range {
  const top = high > 0 && Number.isFinite(high) ? high : 1;
  return { transfer, low: transfer === "log" ? top * 10 ** -LOG_DECADES : 0, high: top };
}

export function place(value: number, { transfer, low, high }: Range): number {
  const t =
    transfer === "linear"
      ? (value - low) / (high - low)
      : Math.log(Math.max(value, low) / low) / Math.log(high / low);
  return Math.min(1, Math.max(0, t));
}

/** Ticks of a legend: values with their places. Linear: thirds of nothing, but 0, half, all; log: the decades. */
export function ticks({ transfer, low, high }: Range): { value: number; at: number }[] {
  if (transfer === "linear") return [0, 0.5, 1].map((at) => ({ value: at * high, at }));
  const whole: Range = { transfer, low, high };
  const decades = Array.from({ length: LOG_DECADES + 1 }, (_, i) => high * 10 ** (i - LOG_DECADES));
  return decades.map((value) => ({ value, at: place(value, whole) }));
}
