// The sentence about a row: where its word looks. The same words for recordings and for the worked examples.
import type { Ranked, Readout } from "../model/readout";
import type { Language } from "./language.svelte";
import { count, grouped, share } from "./numbers";

// `who` is "" where the word itself stands beside the phrase. Names are not declined, so Czech puts them after a colon.
const en = {
  nothing: (who: string) => say(who, "may see nothing"),
  unknown: (who: string) => `${who === "" ? "" : `${who}: `}some numbers of the row are not finite, so there is no honest summary`,
  only: (who: string, key: string) => say(who, `can see only ${key}`),
  itself: "itself",
  equally: (who: string, many: string, each: string) => say(who, `looks at all equally (${many} × ${each})`),
  mainly: (who: string, keys: string) => say(who, `looks mainly at ${keys}`),
  most: (who: string, keys: string) => say(who, `looks most at ${keys}`),
  spread: (who: string, key: string) => say(who, `looks at many, most at ${key}`),
  others: (many: number) => `and ${grouped(many, "en")} more`,
};
const cs: typeof en = {
  nothing: (who) => say(who, "nesmí vidět nic"),
  unknown: (who) => `${who === "" ? "" : `${who}: `}některá čísla řádku nejsou konečná, poctivé shrnutí proto není`,
  only: (who, key) => say(who, key === cs.itself ? `vidí jen ${key}` : `vidí jen: ${key}`),
  itself: "sebe",
  equally: (who, many, each) => (who === "" ? `dívá se na všechna stejně (${many} × ${each})` : `${who} se dívá na všechna stejně (${many} × ${each})`),
  mainly: (who, keys) => (who === "" ? `dívá se hlavně na: ${keys}` : `${who} se dívá hlavně na: ${keys}`),
  most: (who, keys) => (who === "" ? `nejvíc se dívá na: ${keys}` : `${who} se nejvíc dívá na: ${keys}`),
  spread: (who, key) => (who === "" ? `dívá se na mnoho slov, nejvíc na: ${key}` : `${who} se dívá na mnoho slov, nejvíc na: ${key}`),
  others: (many) => `a\u00a0${count(many, "cs", ["další", "další", "dalších"])}`,
};

/** A token in a sentence: a comma would be lost in it without quotes. */
export const quoted = (token: string, lang: Language): string => (lang === "cs" ? `„${token}“` : `“${token}”`);

const say = (who: string, phrase: string): string => (who === "" ? phrase : `${who} ${phrase}`);

export interface Names {
  who: string; // "" for the phrase alone
  row: number; // the row's own word among the keys
  key: (index: number) => string;
  most: number; // so many of the keys looked at are named
}

/** „looks mainly at pan 33 %, švejk 33 %, pivo 33 %“ */
export function readoutText(said: Readout, names: Names, lang: Language): string {
  const words = lang === "cs" ? cs : en;
  const { who } = names;
  const part = ({ index, prob }: Ranked, digits = 0): string => `${names.key(index)} ${share(prob, lang, digits)}`;
  switch (said.kind) {
    case "nothing":
    case "unknown":
      return words[said.kind](who);
    case "only":
      return words.only(who, said.at.index === names.row ? words.itself : names.key(said.at.index));
    case "equally":
      return words.equally(who, grouped(said.count, lang), share(said.prob, lang, 1));
    case "spread":
      return words.spread(who, part(said.at, 1));
    case "looks": {
      const keys = said.at.slice(0, names.most).map((one) => part(one));
      if (said.at.length > names.most) keys.push(words.others(said.at.length - names.most));
      return words[said.mainly ? "mainly" : "most"](who, keys.join(", "));
    }
  }
}
