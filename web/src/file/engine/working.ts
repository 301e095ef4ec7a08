// The working of one cell as an HTML fragment, in the form of `pozor.working.html`: escaped, MathML, no script, no style.
import { decimal, scientific } from "../../words/numbers.ts";
import { workingWords, type WorkingWords } from "../../words/fileWorking.ts";
import type { FileDocument } from "../held";
import type { Shown } from "./store.ts";

interface Cell {
  query: number;
  key: number;
  row: { probs: Float64Array; visible: Uint8Array; lse: number; sink: number };
  lang: "cs" | "en";
  digits: number;
}

const TERMS = 6; // of the dot product that are written out

export function working(document: FileDocument, shown: Shown, cell: Cell): string {
  const { lang, digits, query, key } = cell;
  const words = workingWords[lang];
  const at = document.item;
  const position = query + shown.held.map.q_offset;
  const token = (index: number): string => {
    const text = at.texts[index] ?? at.text.slice(at.starts[index], at.stops[index]);
    return text === "" ? "" : text.replace(/^ /, "␣").replaceAll("\n", "⏎");
  };
  const named = (index: number, text: string): string => `<span class="w-index">${index}</span> ${words.quote(`<bdi class="w-token" translate="no">${escape(text)}</bdi>`)}`;
  const [of, to] = [named(query, token(position)), named(key, token(key))];
  const body = shown.head.arrays.probs === null ? steps(shown, cell, words, of, to) : given(shown, cell, words, of, to);
  const number = (value: number): string => rounded(value, digits, lang);
  const result = `<p class="w-text"><strong>${words.result(of, to, mn(number(cell.row.visible[key] === 1 ? cell.row.probs[key]! : 0)))}</strong></p>`;
  return `<section class="w-working" lang="${lang}"><h3 class="w-heading">${words.heading(of, to)}</h3>${body}${result}</section>`;
}

function given(shown: Shown, { query, key }: Cell, words: WorkingWords, of: string, to: string): string {
  const seen = shown.head.sight.sees(query, key);
  return `<p class="w-text">${seen ? words.given : words.hidden(of, to)}</p>`;
}

function steps(shown: Shown, { query, key, row, lang, digits }: Cell, words: WorkingWords, of: string, to: string): string {
  const { q, k, dim, scale, softcap, sink } = shown.head.arrays;
  const write = (value: number): string => rounded(value, digits, lang);
  const products = Array.from({ length: dim }, (_, d) => ({ a: q[query * dim + d]!, b: k[key * dim + d]! }));
  const dot = products.reduce((sum, { a, b }) => sum + a * b, 0);
  const largest = [...products].sort((x, y) => Math.abs(y.a * y.b) - Math.abs(x.a * x.b)).slice(0, dim > TERMS + 1 ? TERMS : dim);
  const rest = dot - largest.reduce((sum, { a, b }) => sum + a * b, 0);
  const terms = largest.map(({ a, b }) => `<mrow>${signed(write(a))}<mo>·</mo>${signed(write(b))}</mrow>`);
  if (largest.length < dim) terms.push(`<mrow><mo stretchy="false">(</mo><mtext>${words.more(dim - largest.length)} ${write(rest)}</mtext><mo stretchy="false">)</mo></mrow>`);
  const left = `<mrow><mi>q</mi><mo>·</mo><mi>k</mi></mrow>`;
  const lines = [
    title(1, words.dotTitle),
    text(words.dot),
    equation(left, [...terms.map((term, i) => `<mo>${i === 0 ? "≈" : "+"}</mo>${term}`), `<mo>≈</mo>${number(write(dot))}`]),
    title(2, words.scaleTitle),
  ];
  const root = Math.abs(scale - dim ** -0.5) < 1e-15;
  const by = root ? `<mfrac>${number(write(dot))}<msqrt><mn>${dim}</mn></msqrt></mfrac>` : `<mrow>${number(write(dot))}<mo>·</mo>${number(write(scale))}</mrow>`;
  let logit = dot * scale;
  lines.push(text(root ? words.root : words.scale), equation(root ? `<mfrac>${left}<msqrt><mi>d</mi></msqrt></mfrac>` : `<mrow>${left}<mo>·</mo><mi>s</mi></mrow>`, [`<mo>≈</mo>${by}`, `<mo>≈</mo>${number(write(logit))}`]));
  let step = 3;
  if (softcap !== null) {
    const capped = softcap * Math.tanh(logit / softcap);
    lines.push(title(step++, words.softcapTitle), text(words.softcap(write(softcap))));
    lines.push(equation("<mi>a</mi>", [`<mo>≈</mo><mrow>${number(write(softcap))}<mo>·</mo><mi>tanh</mi><mo stretchy="false">(</mo><mfrac>${number(write(logit))}${number(write(softcap))}</mfrac><mo stretchy="false">)</mo></mrow>`, `<mo>≈</mo>${number(write(capped))}`]));
    logit = capped;
  }
  const seen = row.visible[key] === 1;
  const count = row.visible.reduce((sum, one) => sum + one, 0);
  lines.push(title(step++, words.maskTitle), text(seen ? words.seen(of, to) : words.hidden(of, to)), text(words.count(count, shown.head.keys)));
  lines.push(title(step, words.softmaxTitle));
  if (!seen) {
    lines.push(text(words.zero));
    return lines.join("");
  }
  lines.push(text(sink === null ? words.lse(count) : words.lseSink(count, write(sink))));
  lines.push(equation("<mi>lse</mi>", [`<mo>≈</mo>${number(write(row.lse))}`]));
  const power = `<msup><mi>e</mi><mrow>${number(write(logit))}<mo>−</mo>${signed(write(row.lse))}</mrow></msup>`;
  lines.push(text(words.exp), equation("<mi>p</mi>", [`<mo>≈</mo>${power}`, `<mo>≈</mo>${number(write(row.probs[key]!))}`]));
  return lines.join("");
}

const title = (step: number, words: string): string => `<h4 class="w-heading">${step}. ${words}</h4>`;
const text = (words: string): string => `<p class="w-text">${words}</p>`;
const number = (written: string): string => `<mn>${written}</mn>`;
const mn = (written: string): string => `<span class="w-number">${written}</span>`;
const signed = (written: string): string => (written.startsWith("−") ? `<mrow><mo stretchy="false">(</mo>${number(written)}<mo stretchy="false">)</mo></mrow>` : number(written));

function equation(left: string, parts: readonly string[]): string {
  const right = parts.map((part) => `<math displaystyle="true">${part}</math>`).join(" ");
  return `<ul class="w-equations"><li><span class="w-left"><math>${left}</math></span> ${right}</li></ul>`;
}

/** A number with its digits; one that they would show as 0 with a power of ten. */
function rounded(value: number, digits: number, lang: "cs" | "en"): string {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "−∞" : "∞";
  if (value !== 0 && Math.abs(value) < 0.5 * 10 ** -digits) return scientific(value, lang, Math.max(1, digits - 1)).replace("-", "−");
  return decimal(value, digits, lang);
}

function escape(text: string): string {
  return text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
}
