// What a row of weights says in words: looks mainly at …, at all equally, only at one, at nothing.
import { at } from "./address.ts";
import { toFloat, type Num } from "./decimal.ts";
import { value, type Working } from "./compute.ts";

const LOOKS = 0.05; // a key with a larger share is looked at
const EQUAL = 1e-9; // shares that differ by less are the same

export interface Look {
  readonly key: number;
  readonly share: Num;
}

export type Readout =
  | { kind: "nothing" }
  | { kind: "only"; key: number }
  | { kind: "equal"; keys: readonly number[]; share: Num }
  | { kind: "mainly"; looks: readonly Look[] };

export function readout(working: Working, row: number, head: number): Readout {
  const all = working.state.words.map((_, key) => ({ key, share: value(working, at("probs", row, key, head)) }));
  const seen = all.filter(
    ({ key, share }) => toFloat(share) > 0 || toFloat(value(working, at("logits", row, key, head))) > -Infinity,
  );
  const [first] = seen;
  if (first === undefined || seen.every(({ share }) => toFloat(share) === 0)) return { kind: "nothing" };
  if (seen.length === 1) return { kind: "only", key: first.key };
  if (seen.every(({ share }) => Math.abs(toFloat(share) - toFloat(first.share)) < EQUAL)) {
    return { kind: "equal", keys: seen.map(({ key }) => key), share: first.share };
  }
  const looks = seen
    .filter(({ share }) => toFloat(share) > LOOKS)
    .sort((a, b) => {
      const difference = toFloat(b.share) - toFloat(a.share);
      return Math.abs(difference) < EQUAL ? a.key - b.key : difference;
    });
  return { kind: "mainly", looks };
}
