// What was asked, read from strings as a query string has them; a wrong word gets a sentence.
import type { Kind, Reduce, Value, Variant } from "../../read/documents";
import { SIDE, type Address } from "./tile.ts";

export type Given = Readonly<Record<string, string>>;

/** A question that has no answer here, in one sentence. */
export class Refusal extends Error {
  constructor(
    sentence: string,
    readonly status: 400 | 404 = 400,
  ) {
    super(sentence);
  }
}

export function whole(given: Given, name: string, usual?: number): number {
  const text = given[name];
  if (text === undefined || text === "") {
    if (usual === undefined) throw new Refusal(`${name} is missing; give ${name}=N.`);
    return usual;
  }
  if (!/^\d{1,9}$/.test(text)) throw new Refusal(`${name} must be a whole number from 0 up; got ${text.slice(0, 50)}.`);
  return Number(text);
}

export function below(given: Given, name: string, stop: number, what: string): number {
  const number = whole(given, name);
  if (number >= stop) throw new Refusal(`${name} must be below ${stop} (${what}); got ${number}.`, 404);
  return number;
}

export function word<Word extends string>(given: Given, name: string, words: readonly Word[], usual: Word): Word {
  const text = given[name] ?? usual;
  const found = words.find((one) => one === text);
  if (found === undefined) throw new Refusal(`${name} must be ${words.join(" or ")}; got ${text.slice(0, 50)}.`);
  return found;
}

export const kindOf = (given: Given): Kind => word(given, "kind", ["self", "cross"], "self");
export const variantOf = (given: Given): Variant => word(given, "variant", ["recorded", "unmasked", "causal"], "recorded");
export const reduceOf = (given: Given): Reduce => word(given, "reduce", ["max", "mean", "share"], "max");

export function valueOf(given: Given, values: readonly Value[]): Value {
  const value = word(given, "value", ["prob", "value_norm"], "prob");
  if (!values.includes(value)) throw new Refusal("value must be prob: this head has no v_norm (no W_O was found).", 404);
  return value;
}

export function tileOf(given: Given, map: { q_len: number; kv_len: number; zooms: number }): Address {
  const zoom = below(given, "zoom", map.zooms, "zooms of this map");
  const side = SIDE * 2 ** zoom;
  const count = (length: number): number => Math.max(1, Math.ceil(length / side));
  const row = below(given, "row", count(map.q_len), `tiles at zoom ${zoom}`);
  return { zoom, row, column: below(given, "column", count(map.kv_len), `tiles at zoom ${zoom}`) };
}

/** Keys that a row is to do without: "5,7". */
export function hiddenOf(given: Given, keys: number): Set<number> {
  const parts = (given["hidden"] ?? "").split(",").filter((part) => part !== "");
  for (const part of parts) {
    if (!/^\d{1,9}$/.test(part) || Number(part) >= keys) {
      throw new Refusal(`hidden must be keys below ${keys}, such as 5,7; got ${part.slice(0, 20)}.`);
    }
  }
  return new Set(parts.map(Number));
}

/** A number as JSON can hold it. */
export const finite = (number: number): number | null => (Number.isFinite(number) ? number : null);
