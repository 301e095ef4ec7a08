// Numbers of the map as they are read: at the legend's ends, in cells, in lists of lengths.
import type { Language } from "./language.svelte.ts";
import { decimal, percent, scientific } from "./numbers";

/** A value under the legend: 0.5, 0.001, 3·10⁻⁵, −0.25; zeros at its end are left out. */
export function scaleValue(value: number, lang: Language): string {
  if (value < 0) return `−${scaleValue(-value, lang)}`;
  if (value === 0) return "0";
  if (value >= 1e5 || value < 0.00095) return short(value, lang);
  const digits = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(value))));
  return bare(decimal(value, digits, lang));
}

/** What a list of a row or a column is made of. */
export interface Kind {
  lengths: boolean; // of what is brought; else parts of the attention
  signed: boolean; // of one map less another
}

/** An entry of such a list: 61.3 %, 2.35, −4.0 %. */
export function partSaid(value: number, { lengths, signed }: Kind, lang: Language): string {
  if (!Number.isFinite(value)) return "NaN";
  const said = lengths ? three(Math.abs(value), lang) : percent(Math.abs(value), lang);
  return value < 0 ? `−${said}` : signed && value > 0 ? `+${said}` : said;
}

/** A percentage as it was chosen: 99 %, 99.9 %. */
export function percentOf(value: number, lang: Language): string {
  return `${decimal(value, value % 1 === 0 ? 0 : 1, lang)}\u00a0%`;
}

/** A length or another number without a natural end: three digits that count. */
export function three(value: number, lang: Language): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e5 || size < 0.000995) return scientific(value, lang, 2);
  return decimal(value, Math.max(0, 2 - Math.floor(Math.log10(size))), lang);
}

/**
 * What stands in a cell of the map: three decimals of a weight, three digits of a length; a difference has its sign.
 * What is not 0 never reads as 0.
 */
export function cellValue(value: number, kind: { bounded: boolean; signed: boolean }, lang: Language): string {
  const sign = value < 0 ? "−" : kind.signed && value > 0 ? "+" : "";
  const size = Math.abs(value);
  if (size > 0 && size < 0.0005) return sign === "" ? `<${decimal(0.001, 3, lang)}` : `${sign}0`;
  if (kind.bounded || size < 0.9995) return `${sign}${decimal(size, 3, lang)}`;
  if (size >= 9999.5) return `${sign}${scientific(size, lang, 1)}`;
  return `${sign}${decimal(size, Math.max(0, 2 - Math.floor(Math.log10(size))), lang)}`;
}

const bare = (text: string): string => (/[.,]/.test(text) ? text.replace(/0+$/, "").replace(/[.,]$/, "") : text);

/** 3·10⁻⁵, 2.5·10⁻⁵, 10⁻⁵. */
function short(value: number, lang: Language): string {
  const digits = [0, 1, 2].find((many) => Number(value.toExponential(many)) === Number(value.toPrecision(3))) ?? 2;
  return scientific(value, lang, digits).replace(/^1·/, "");
}
