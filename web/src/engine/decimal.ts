// Numbers of the examples: exact decimals (Big) as long as they are exact, float64 (number) after √ and exp.
import Big from "big.js";

export type Num = Big | number;
export type Lang = "cs" | "en";

/** Decimals shown; "all" = every digit there is, "binary" = the same from a run in float64 throughout. */
export type Digits = 2 | 3 | 4 | 6 | "all" | "binary";
export const DIGITS: readonly Digits[] = [2, 3, 4, 6, "all", "binary"];

export const ZERO = new Big(0);
export const ONE = new Big(1);

export const LARGEST = 1_000_000; // of a number typed in
export const FINEST = 12; // decimals of a number typed in

export function isExact(n: Num): n is Big {
  return typeof n !== "number";
}

export function toFloat(n: Num): number {
  return isExact(n) ? n.toNumber() : n;
}

export function isZero(n: Num): boolean {
  return isExact(n) && n.eq(0);
}

export function add(a: Num, b: Num): Num {
  if (isExact(a) && isExact(b)) return a.plus(b);
  if (isZero(a)) return b;
  if (isZero(b)) return a;
  return toFloat(a) + toFloat(b);
}

/** An exact zero stays exact: a weight that is 0 leaves nothing, whatever it multiplies. */
export function multiply(a: Num, b: Num): Num {
  if (isExact(a) && isExact(b)) return a.times(b);
  if (isZero(a) || isZero(b)) return ZERO;
  return toFloat(a) * toFloat(b);
}

export function same(a: Num, b: Num): boolean {
  if (isExact(a) && isExact(b)) return a.eq(b);
  return Object.is(toFloat(a), toFloat(b)) || toFloat(a) === toFloat(b);
}

/** Why a text is no number of an example. */
export type NumberFault = "empty" | "several" | "letters" | "large" | "fine";

/** Reads 0.5, 0,5, .5, −2; a point and a comma are the same. */
export function parse(text: string): Big | NumberFault {
  const plain = text.trim().replace(/[−–]/g, "-").replace(/[\s\u00a0\u202f]/g, "");
  if (plain === "") return "empty";
  if (/;/.test(plain) || (plain.match(/[.,]/g) ?? []).length > 1) return "several";
  if (!/^[+-]?(\d+[.,]?\d*|[.,]\d+)$/.test(plain)) return "letters";
  const point = plain.replace(",", ".").replace("+", "").replace(/\.$/, "");
  if (point.replace(/^-/, "").length > 40) return "large";
  const value = new Big(point);
  if (value.abs().gt(LARGEST)) return "large";
  if ((plainText(value).split(".")[1] ?? "").length > FINEST) return "fine";
  return value;
}

/** The shortest digits that mean this number, with a point and a plain minus: for code, JSON and links. */
export function plainText(n: Num): string {
  if (isExact(n)) return n.eq(0) ? "0" : n.toFixed();
  if (!Number.isFinite(n)) return Number.isNaN(n) ? "nan" : n < 0 ? "-inf" : "inf";
  return String(Object.is(n, -0) ? 0 : n);
}

/** Does the number need more digits than are shown? Then it stands after ≐ or ≈, not after =. */
export function isRounded(n: Num, digits: Digits): boolean {
  if (!isExact(n)) return Number.isFinite(n);
  if (digits === "all" || digits === "binary") return false;
  return !n.eq(n.round(digits, Big.roundHalfUp));
}

/**
 * A number as it stands in a cell. An exact one with few decimals stands as it is (0.97, 1, 0); one that was
 * rounded carries all its digits (0.309, 0.730). Halves go up, as at school: 0.485 is 0.49.
 */
export function show(n: Num, digits: Digits, lang: Lang): string {
  return local(shown(n, digits), lang);
}

function shown(n: Num, digits: Digits): string {
  if (!isExact(n)) {
    if (Number.isNaN(n)) return "?";
    if (!Number.isFinite(n)) return n < 0 ? "-∞" : "∞";
    if (digits === "all" || digits === "binary") return powerOfTen(plainText(n));
    return fixed(new Big(plainText(n)), digits);
  }
  if (digits === "all" || digits === "binary" || !isRounded(n, digits)) return plainText(n);
  return fixed(n, digits);
}

// a large or tiny number is told by its leading digits, not by a row of zeros
function fixed(n: Big, digits: number): string {
  if (n.abs().gte(1e6)) return powerOfTen(n.toExponential(digits, Big.roundHalfUp));
  const text = n.toFixed(digits, Big.roundHalfUp);
  return /^-[0.]+$/.test(text) ? text.slice(1) : text;
}

function powerOfTen(text: string): string {
  const [mantissa = "", power] = text.split("e");
  if (power === undefined) return text;
  const raised = Number(power)
    .toString()
    .replace(/[-\d]/g, (d) => (d === "-" ? "⁻" : ("⁰¹²³⁴⁵⁶⁷⁸⁹"[Number(d)] ?? d)));
  return `${mantissa}·10${raised}`;
}

function local(text: string, lang: Lang): string {
  const minus = text.replace("-", "−");
  return lang === "cs" ? minus.replace(".", ",") : minus;
}

/** A share as a percentage: 33 %, 94.7 %, the sign on the same line. `decimals` as the reader needs them. */
export function percent(n: Num, lang: Lang, decimals = 0): string {
  const part = new Big(toFloat(n)).times(100);
  if (part.gt(0) && part.lt(decimals === 0 ? 0.5 : 0.05)) {
    return local(decimals === 0 ? "<\u00a01\u00a0%" : "<\u00a00.1\u00a0%", lang);
  }
  const text = part.toFixed(decimals, Big.roundHalfUp);
  // 99.96 % is not all of it
  if (part.lt(100) && Number(text) === 100) return local(decimals === 0 ? ">\u00a099\u00a0%" : ">\u00a099.9\u00a0%", lang);
  return `${local(text, lang)}\u00a0%`;
}

/** Several numbers in prose: a semicolon in Czech, where the comma is taken; a comma in English. */
export function list(texts: readonly string[], lang: Lang): string {
  return texts.join(lang === "cs" ? "; " : ", ");
}
