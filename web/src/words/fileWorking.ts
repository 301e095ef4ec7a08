// The working of a cell in the single file, where no Python writes it.

export interface WorkingWords {
  heading(of: string, to: string): string;
  quote(text: string): string;
  result(of: string, to: string, prob: string): string;
  dotTitle: string;
  dot: string;
  more(count: number): string;
  scaleTitle: string;
  root: string;
  scale: string;
  softcapTitle: string;
  softcap(cap: string): string;
  maskTitle: string;
  seen(of: string, to: string): string;
  hidden(of: string, to: string): string;
  count(seen: number, keys: number): string;
  softmaxTitle: string;
  zero: string;
  lse(count: number): string;
  lseSink(count: number, sink: string): string;
  exp: string;
  given: string;
}

const keys = (count: number): string => (count === 1 ? "1 klíč" : count >= 2 && count <= 4 ? `${count} klíče` : `${count} klíčů`);

export const workingWords: { en: WorkingWords; cs: WorkingWords } = {
  en: {
    heading: (of, to) => `By hand: how much attention ${of} pays to ${to}`,
    quote: (text) => `“${text}”`,
    result: (of, to, prob) => `${of} gives ${to} the weight ${prob}.`,
    dotTitle: "Score: query times key",
    dot: "Numbers in the same place are multiplied and added up; the largest products are written out.",
    more: (count) => (count === 1 ? "1 more product:" : `${count} more products:`),
    scaleTitle: "Scale",
    root: "The score is divided by the square root of the number of components, d.",
    scale: "The score is multiplied by the model’s own scale, s.",
    softcapTitle: "Softcap",
    softcap: (cap) => `The model keeps every score between −${cap} and ${cap}.`,
    maskTitle: "Mask",
    seen: (of, to) => `${of} may see ${to}.`,
    hidden: (of, to) => `${of} may not see ${to}: the mask hides it.`,
    count: (seen, keys) => `In this row ${seen} of ${keys} keys can be seen.`,
    softmaxTitle: "Softmax",
    zero: "A hidden key gets the logit −∞, so its weight is 0.",
    lse: (count) => `The weights of a row add up to 1. The number that sees to it is lse, the logarithm of the sum of e to the logit over the ${count === 1 ? "one visible key" : `${count} visible keys`}.`,
    lseSink: (count, sink) => `The weights of a row and the part of its sink add up to 1. The number that sees to it is lse, the logarithm of the sum of e to the logit over the ${count === 1 ? "one visible key" : `${count} visible keys`} and the sink, whose logit is ${sink}.`,
    exp: "The weight is e to the logit less lse.",
    given: "The file holds this weight as it was given; there is no query and no key to work it out from.",
  },
  cs: {
    heading: (of, to) => `Ručně: kolik pozornosti věnuje ${of} klíči ${to}`,
    quote: (text) => `„${text}“`,
    result: (of, to, prob) => `${of} dává klíči ${to} váhu ${prob}.`,
    dotTitle: "Skóre: dotaz krát klíč",
    dot: "Čísla na stejném místě se vynásobí a součiny se sečtou; největší součiny jsou vypsané.",
    more: (count) => (count === 1 ? "ještě 1 součin:" : count >= 2 && count <= 4 ? `ještě ${count} součiny:` : `ještě ${count} součinů:`),
    scaleTitle: "Měřítko",
    root: "Skóre se vydělí odmocninou z počtu složek d.",
    scale: "Skóre se vynásobí měřítkem modelu s.",
    softcapTitle: "Omezení skóre",
    softcap: (cap) => `Model drží každé skóre mezi −${cap} a\u00a0${cap}.`,
    maskTitle: "Maska",
    seen: (of, to) => `${of} smí vidět klíč ${to}.`,
    hidden: (of, to) => `${of} nesmí vidět klíč ${to}: skrývá ho maska.`,
    count: (seen, all) => `V\u00a0tomto řádku ${seen >= 2 && seen <= 4 ? "jsou" : "je"} vidět ${keys(seen)} z\u00a0${all}.`,
    softmaxTitle: "Softmax",
    zero: "Skrytý klíč má logit −∞, jeho váha je tedy 0.",
    lse: (count) => `Váhy v\u00a0řádku dávají dohromady 1. Stará se o\u00a0to číslo lse: logaritmus součtu e na logit přes ${count === 1 ? "jediný viditelný klíč" : `viditelné klíče, kterých je ${count}`}.`,
    lseSink: (count, sink) => `Váhy v\u00a0řádku dávají dohromady s\u00a0podílem odtoku 1. Stará se o\u00a0to číslo lse: logaritmus součtu e na logit přes ${count === 1 ? "jediný viditelný klíč" : `viditelné klíče, kterých je ${count},`} a\u00a0odtok, jehož logit je ${sink}.`,
    exp: "Váha je e umocněné na logit bez lse.",
    given: "Soubor má tuto váhu tak, jak ji dostal; není v\u00a0něm dotaz ani klíč, ze kterých by se dala spočítat.",
  },
};
