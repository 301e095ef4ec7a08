// The numbers of the examples as plain tables, for a reader whose browser runs no scripts. Made when the page is built.
import type { Stage } from "../engine/address.ts";
import { addresses, compute, value } from "../engine/compute.ts";
import { show, type Lang } from "../engine/decimal.ts";
import { data, initial, type Kind } from "../engine/state.ts";

const SHOWN: Readonly<Record<Kind, readonly Stage[]>> = {
  paper: ["x", "w_q", "w_k", "w_v", "q", "k", "v", "scores", "scaled", "exps", "probs", "out", "w_o", "result"],
  pub: ["q", "k", "scores", "scaled", "probs"],
};

const WORDS = {
  en: "The page computes with JavaScript, which is off here; these are the numbers of the examples.",
  cs: "Stránka počítá v JavaScriptu, který je tu vypnutý; tohle jsou čísla z příkladů.",
};

export function staticTables(): string {
  return (["cs", "en"] as const)
    .map((lang) => {
      const examples = (["paper", "pub"] as const).map((kind) => example(kind, lang)).join("\n");
      return `<section lang="${lang}">\n<p>${WORDS[lang]}</p>\n${examples}\n</section>`;
    })
    .join("\n");
}

function example(kind: Kind, lang: Lang): string {
  const { title, sentence } = data(kind);
  const tables = SHOWN[kind].map((stage) => table(kind, stage, lang)).join("\n");
  return `<h2>${escape(title[lang])}: ${escape(sentence[lang])}</h2>\n${tables}`;
}

function table(kind: Kind, stage: Stage, lang: Lang): string {
  const working = compute(initial(kind));
  const words = working.state.words;
  const byWord = !stage.startsWith("w_");
  const rows = addresses(working.state, stage).map((row, i) => {
    const cells = row.map((a) => `<td>${escape(show(value(working, a), 3, lang))}</td>`).join("");
    const word = byWord ? `<th scope="row">${escape(words[i]?.text ?? "")}</th>` : "";
    return `<tr>${word}${cells}</tr>`;
  });
  return `<table><caption>${stage}</caption>\n${rows.join("\n")}\n</table>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
}
