// A sequence as the page uses it: one record a token, from the columns that came.
import type { ItemDocument, TokenDocument } from "./documents";

export interface Item {
  name: string;
  text: string;
  tokens: TokenDocument[];
}

export function itemOf({ name, text, ids, starts, stops, texts, special }: ItemDocument): Item {
  const outside = new Set(special);
  const tokens = ids.map((id, index): TokenDocument => {
    const [start, stop] = [starts[index] ?? -1, stops[index] ?? -1];
    return { id, text: texts[index] ?? text.slice(start, stop), start, stop, special: outside.has(index) };
  });
  return { name, text, tokens };
}
