// A formula as a small tree, and its three renderings: MathML (as a tree of elements), LaTeX, plain text.
import { show, toFloat, type Digits, type Lang, type Num } from "./decimal.ts";

export type Expression =
  | { form: "number"; value: Num }
  | { form: "symbol"; name: string; sub: string } // q with 3,1 below
  | { form: "operator"; sign: string }
  | { form: "row"; items: readonly Expression[] }
  | { form: "parens"; of: Expression }
  | { form: "fraction"; top: Expression; bottom: Expression }
  | { form: "root"; of: Expression }
  | { form: "power"; base: Expression; exponent: Expression };

export interface Style {
  readonly digits: Digits;
  readonly lang: Lang;
}

export const num = (value: Num): Expression => ({ form: "number", value });
export const symbol = (name: string, sub = ""): Expression => ({ form: "symbol", name, sub });
export const sign = (text: string): Expression => ({ form: "operator", sign: text });
export const row = (...items: Expression[]): Expression => ({ form: "row", items });
export const fraction = (top: Expression, bottom: Expression): Expression => ({ form: "fraction", top, bottom });
export const root = (of: Expression): Expression => ({ form: "root", of });
export const power = (base: Expression, exponent: Expression): Expression => ({ form: "power", base, exponent });
const parens = (of: Expression): Expression => ({ form: "parens", of });

/** A number as a factor: a negative one in brackets. */
export function factor(value: Num): Expression {
  return toFloat(value) < 0 ? parens(num(value)) : num(value);
}

export interface Element {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly (Element | string)[];
}

function element(tag: string, children: Element["children"], attributes: Record<string, string> = {}): Element {
  return { tag, attributes, children };
}

export function mathml(e: Expression, style: Style): Element {
  const inner = (x: Expression): Element => mathml(x, style);
  switch (e.form) {
    case "number": {
      const text = show(e.value, style.digits, style.lang);
      if (!text.startsWith("−")) return element("mn", [text]);
      return element("mrow", [element("mo", ["−"], { form: "prefix" }), element(text === "−∞" ? "mi" : "mn", [text.slice(1)])]);
    }
    case "symbol": {
      const name = element("mi", [e.name], e.name.length > 1 ? { mathvariant: "normal" } : {});
      return e.sub === "" ? name : element("msub", [name, element("mn", [e.sub])]);
    }
    case "operator":
      return element("mo", [e.sign], { form: "infix" });
    case "row":
      return element("mrow", e.items.map(inner));
    case "parens":
      return element("mrow", [element("mo", ["("]), inner(e.of), element("mo", [")"])]);
    case "fraction":
      return element("mfrac", [inner(e.top), inner(e.bottom)]);
    case "root":
      return element("msqrt", [inner(e.of)]);
    case "power":
      return element("msup", [inner(e.base), inner(e.exponent)]);
  }
}

const LATEX_SIGNS: Readonly<Record<string, string>> = {
  "·": "\\cdot",
  "−": "-",
  "≐": "\\doteq",
  "≈": "\\approx",
  "→": "\\to",
};

export function latex(e: Expression, style: Style): string {
  const inner = (x: Expression): string => latex(x, style);
  switch (e.form) {
    case "number":
      return show(e.value, style.digits, style.lang)
        .replace("−", "-")
        .replace("∞", "\\infty")
        .replace(",", "{,}")
        .replace(/·10(.*)$/, (_, p: string) => ` \\cdot 10^{${[...p].map(plainDigit).join("")}}`);
    case "symbol": {
      const name = e.name.length > 1 ? `\\mathrm{${e.name}}` : e.name;
      return e.sub === "" ? name : `${name}_{${e.sub}}`;
    }
    case "operator":
      return LATEX_SIGNS[e.sign] ?? e.sign;
    case "row":
      return e.items.map(inner).join(" ");
    case "parens":
      return `(${inner(e.of)})`;
    case "fraction":
      return `\\frac{${inner(e.top)}}{${inner(e.bottom)}}`;
    case "root":
      return `\\sqrt{${inner(e.of)}}`;
    case "power":
      return `${inner(e.base)}^{${inner(e.exponent)}}`;
  }
}

const plainDigit = (c: string): string => (c === "⁻" ? "-" : String("⁰¹²³⁴⁵⁶⁷⁸⁹".indexOf(c)));

export function text(e: Expression, style: Style): string {
  const inner = (x: Expression): string => text(x, style);
  switch (e.form) {
    case "number":
      return show(e.value, style.digits, style.lang);
    case "symbol":
      return e.sub === "" ? e.name : `${e.name}[${e.sub}]`;
    case "operator":
      return e.sign;
    case "row":
      return e.items.map(inner).join(" ");
    case "parens":
      return `(${inner(e.of)})`;
    case "fraction":
      return `${inner(e.top)} / ${inner(e.bottom)}`;
    case "root":
      return `√${inner(e.of)}`;
    case "power":
      return `${inner(e.base)}^(${inner(e.exponent)})`;
  }
}
