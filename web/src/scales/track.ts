// The track of the legend: what it spans so that both ends of the scale can be grasped on it, its ticks and its steps.
import { place, range, valueAt, type Range } from "./transfer";

const SMALLEST = 1e-30; // float32 goes on to 1e-38; nobody can tell a weight below this from 0

/**
 * What the track spans for a scale on it. It ends at `top`, the largest value there can be, or, where `high` would lie
 * in its first tenth, so many times ten below; a logarithmic one begins at least a power of ten below `low`.
 */
export function trackOf(scale: Range, top: number): Range {
  const { transfer, root, signed } = scale;
  if (transfer === "log") {
    const end = Math.max(top, scale.high);
    const low = Math.max(SMALLEST, power10(Math.floor(Math.log10(scale.low) + 0.01) - 1));
    return range("log", end, { low: Math.min(low, end / 10), signed });
  }
  let end = top;
  while (scale.high < end / 10 && end > SMALLEST) end /= 10;
  return range(transfer, Math.max(end, scale.high), { root, signed });
}

export interface Tick {
  value: number;
  at: number; // 0…1 along the track
}

/** Values to print under the track: its ends and a round middle; for a logarithmic one its powers of ten. */
export function ticks(track: Range): Tick[] {
  const magnitudes = track.transfer === "log" ? decades(track) : [0, track.transfer === "power" ? middle(track) : track.high / 2, track.high];
  const sides = magnitudes.filter((one) => one > track.low * 1.01); // the floor itself lies where 0 lies
  const values = track.signed ? [...sides.map((one) => -one).reverse(), 0, ...sides] : magnitudes;
  return values.map((value) => ({ value, at: place(value, track) }));
}

/** The half of the track is root of nothing round: its nearest value of one digit. */
function middle(track: Range): number {
  return Number((track.high * 0.5 ** track.root).toPrecision(1));
}

function decades({ low, high, signed }: Range): number[] {
  const first = Math.ceil(Math.log10(low) - 1e-9);
  const last = Math.floor(Math.log10(high) + 1e-9);
  const most = signed ? 3 : 5;
  const each = Math.max(1, Math.ceil((last - first) / most));
  const kept: number[] = [];
  for (let power = last; power >= first; power -= each) kept.unshift(power10(power));
  return kept;
}

/** 10 ** −3 is 0.001 exactly as it is written; multiplying would not give that. */
const power10 = (power: number): number => Number(`1e${power}`);

/** Three digits of a value that a hand set: more the hand cannot mean, and links stay short. */
export function rounded(value: number): number {
  return Number(value.toPrecision(3));
}

/** What a handle moved by so many hundredths of the track comes to, rounded; it always moves. */
export function stepped(value: number, hundredths: number, track: Range): number {
  const to = rounded(valueAt(place(value, track) + hundredths / 100, track));
  if (to !== value || hundredths === 0) return to;
  const digit = 10 ** (Math.floor(Math.log10(Math.abs(value) || track.high)) - 2);
  return rounded(value + Math.sign(hundredths) * digit);
}

/** How many powers of ten a logarithmic scale may be asked to span; what it spans now is among them. */
export function decadeChoices(now: number): number[] {
  const usual = [1, 2, 3, 4, 6, 8];
  const near = Math.max(1, Math.round(now));
  return [...new Set([...usual, near])].sort((a, b) => a - b);
}
