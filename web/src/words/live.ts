// Words of the live page.
import { count } from "./numbers";
import { tied } from "./tied";

const en = {
  title: "Live",
  about: "type a Czech sentence and see where a small model looks",
  lead: "Type a Czech sentence. A small model reads it, and here is where all of its heads look at once. Then let it go on, and watch the newest row.",
  honest:
    "The model has a little over a million parameters and knows one old Czech novel. What it writes is near-nonsense: it has learnt how Czech sounds, not what it means.",
  field: "A sentence in Czech",
  hint: "type a sentence…",
  example: "Pan Švejk seděl v hospodě, vypil pivo a řekl:",
  read: "Read it",
  word: "Next word",
  play: "Let it write",
  stop: "Stop",
  back: "Back to my text",
  bold: "How bold",
  bolds: { 0.4: "careful", 0.8: "as it is", 1.2: "wild" },
  allHeads: (layers: number, heads: number) => `All heads: ${count(layers, "en", ["layer", "layers", "layers"])} of ${heads}`,
  heads: "All heads",
  headsNote: "a line is a layer, a square is a head; the newest word is the bottom row",
  head: (layer: number, head: number) => `layer ${layer}, head ${head}`,
  text: "Text",
  map: (layer: number, head: number) => `Attention of layer ${layer}, head ${head}, by words`,
  last: (shown: number, all: number) => `the last ${shown} of ${all} words`,
  newest: "newest row",
  lit: "Words are lit by how much the row looks at them.",
  full: "The model holds no more: its context is full. Begin with a shorter text.",
  tooLong: "The model cannot read so long a text at once; shorten it.",
  unread: "The text could not be read.",
  again: "Try again",
  reading: "reading…",
  open: "read it and go on",
};

const cs: typeof en = {
  title: "Naživo",
  about: "napište českou větu a uvidíte, kam se dívá malý model",
  lead: "Napište českou větu. Malý model si ji přečte a vy uvidíte, kam se dívají všechny jeho hlavy najednou. Pak ho nechte psát dál a sledujte nejnovější řádek.",
  honest:
    "Model má něco přes milion parametrů a zná jediný starý český román. Píše skoro samé nesmysly: naučil se, jak čeština zní, ne co znamená.",
  field: "Česká věta",
  hint: "napište větu…",
  example: "Pan Švejk seděl v hospodě, vypil pivo a řekl:",
  read: "Přečíst",
  word: "Další slovo",
  play: "Nechat psát",
  stop: "Zastavit",
  back: "Zpět k mému textu",
  bold: "Odvaha",
  bolds: { 0.4: "opatrně", 0.8: "přirozeně", 1.2: "divoce" },
  allHeads: (layers, heads) => `Všechny hlavy: ${count(layers, "cs", ["vrstva", "vrstvy", "vrstev"])} po ${heads}`,
  heads: "Všechny hlavy",
  headsNote: "řada je vrstva, čtverec je hlava; nejnovější slovo je dolní řádek",
  head: (layer, head) => `vrstva ${layer}, hlava ${head}`,
  text: "Text",
  map: (layer, head) => `Pozornost vrstvy ${layer}, hlavy ${head} po slovech`,
  last: (shown, all) => `posledních ${shown} slov z ${all}`,
  newest: "nejnovější řádek",
  lit: "Slova svítí podle toho, jak moc se na ně řádek dívá.",
  full: "Víc se do modelu nevejde: jeho kontext je plný. Začněte kratším textem.",
  tooLong: "Tak dlouhý text model najednou nepřečte; zkraťte ho.",
  unread: "Text se nepodařilo přečíst.",
  again: "Zkusit znovu",
  reading: "čtu…",
  open: "přečíst a psát dál",
};

// what the model reads stays as it is typed: an unbreakable space would be another text
export const liveWords = { en, cs: { ...tied(cs), example: cs.example } };
