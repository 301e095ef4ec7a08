// How numbers are written: a comma in Czech prose, a true minus, counts that agree with their noun.
import type { Language } from "./language.svelte.ts";

/** A number with `digits` decimals: 0.309 or 0,309. */
export function decimal(value: number, digits: number, lang: Language): string {
  return written(value.toFixed(digits), lang);
}

/** Every digit that tells this double from its neighbours: 0.30879320000000003. */
export function exact(value: number, lang: Language): string {
  if (Number.isNaN(value)) return "NaN";
  if (!Number.isFinite(value)) return value < 0 ? "−∞" : "∞";
  const text = String(value);
  const power = /^(.*)e([+-]\d+)$/.exec(text);
  if (power === null) return written(text, lang);
  return `${written(power[1] ?? "", lang)}·10${superscript(Number(power[2]))}`;
}

/** A percentage with one decimal; the smallest say "< 0.1 %" instead of a false zero. */
export function percent(part: number, lang: Language): string {
  if (part > 0 && part < 0.0005) return lang === "cs" ? "<\u00a00,1\u00a0%" : "<\u00a00.1\u00a0%";
  return `${decimal(part * 100, 1, lang)}\u00a0%`;
}

/** How much of something is done: 43 %. */
export function percentDone(part: number, lang: Language): string {
  return `${decimal(Math.floor(part * 100), 0, lang)}\u00a0%`;
}

/** A share in a sentence: 33 %, with `digits` decimals; a small one is not 0 and a large one is not all. */
export function share(part: number, lang: Language, digits = 0): string {
  const least = 10 ** -digits;
  if (part > 0 && part * 100 < least / 2) return `<\u00a0${decimal(digits === 0 ? 1 : least, digits, lang)}\u00a0%`;
  const text = decimal(part * 100, digits, lang);
  if (part < 1 && text === decimal(100, digits, lang)) return `>\u00a0${decimal(100 - least, digits, lang)}\u00a0%`;
  return `${text}\u00a0%`;
}

/** A percentage with three significant digits: 61.3 %, 0.0548 %. */
export function fine(part: number, lang: Language): string {
  const hundred = part * 100;
  if (hundred === 0) return "0\u00a0%";
  if (hundred < 1e-4) return `${scientific(hundred, lang, 2)}\u00a0%`;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(hundred)));
  return `${decimal(hundred, Math.min(digits, 8), lang)}\u00a0%`;
}

/** Two significant digits with a power of ten, for differences: 3.1·10⁻⁸; exact zero is 0. */
export function scientific(value: number, lang: Language, digits = 1): string {
  if (value === 0) return "0";
  if (!Number.isFinite(value)) return exact(value, lang);
  const [mantissa, power] = value.toExponential(digits).split("e");
  return `${written(mantissa ?? "", lang)}·10${superscript(Number(power))}`;
}

/** An integer with its thousands grouped. */
export function grouped(value: number, lang: Language): string {
  return new Intl.NumberFormat(lang).format(value);
}

/** Czech: 1 token, 2 tokeny, 5 tokenů. English: 1 token, 2 tokens. `forms` are one, few, many. */
export function count(value: number, lang: Language, forms: readonly [string, string, string]): string {
  const kind = value === 1 ? 0 : lang === "cs" && value >= 2 && value <= 4 ? 1 : 2;
  return `${grouped(value, lang)}${lang === "cs" ? "\u00a0" : " "}${forms[kind]}`;
}

function written(text: string, lang: Language): string {
  const minus = text.replace("-", "−");
  return lang === "cs" ? minus.replace(".", ",") : minus;
}

function superscript(power: number): string {
  const digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
  const shown = String(Math.abs(power)).replace(/\d/g, (d) => digits[Number(d)] ?? d);
  return power < 0 ? `⁻${shown}` : shown;
}
