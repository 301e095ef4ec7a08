// Typography of Czech: no line ends with a one-letter word, and no number is torn apart.

const LONE = /(?<![^\s„(])([ksvzouai]) (?=\S)/gi;
const THOUSANDS = /(?<=\d) (?=\d{3}(?!\d))/g;

/** The same words with unbreakable spaces where a line may not end; what is filled in is tied too. */
export function tied<Words>(words: Words): Words {
  return tie(words) as Words;
}

function tie(words: unknown): unknown {
  if (typeof words === "string") return words.replace(LONE, "$1\u00a0").replace(THOUSANDS, "\u00a0");
  if (typeof words === "function") {
    const sentence = words as (...parts: readonly unknown[]) => unknown;
    return (...parts: readonly unknown[]) => tie(sentence(...parts));
  }
  if (Array.isArray(words)) return words.map(tie);
  if (typeof words === "object" && words !== null) {
    return Object.fromEntries(Object.entries(words).map(([name, part]) => [name, tie(part)]));
  }
  return words;
}
