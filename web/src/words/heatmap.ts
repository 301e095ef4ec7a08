// Words of the small map in a lesson.
import { tied } from "./tied";

const en = {
  map: (queries: string, keys: string) => (queries === keys ? `Attention map of “${queries}”` : `Attention map: from “${queries}” to “${keys}”`),
  cellSays: (query: string, key: string, part: string) => `${query} looks at ${key}: ${part}`,
  cellHidden: (query: string, key: string) => `${query} may not see ${key}`,
  darker: "darker = looks there more",
  lighter: "lighter = looks there more",
  hidden: "hidden by the mask",
  mask: "mask",
  on: "on",
  off: "off",
  hint: "Choose a row and read where its word looks.",
};
const cs: typeof en = {
  map: (queries, keys) => (queries === keys ? `Mapa pozornosti věty „${queries}“` : `Mapa pozornosti: z „${queries}“ do „${keys}“`),
  cellSays: (query, key, part) => `Slovo ${query} se dívá na slovo ${key}: ${part}`,
  cellHidden: (query, key) => `Slovo ${query} nesmí vidět slovo ${key}`,
  darker: "tmavší = dívá se tam víc",
  lighter: "světlejší = dívá se tam víc",
  hidden: "zakryto maskou",
  mask: "maska",
  on: "zapnutá",
  off: "vypnutá",
  hint: "Vyberte řádek a přečtete si, kam se jeho slovo dívá.",
};
export const heatmapWords = { en, cs: tied(cs) };
