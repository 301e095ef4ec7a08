// Words of the grid of heads, of "which heads look here?" and of combinations. A head is named layer.head: 12.5.
import type { Reduce } from "../read/documents";
import type { Measure, Order, Shows } from "../model/headNumbers";
import { count, grouped } from "./numbers";
import { tied } from "./tied";

const en = {
  // the panel
  all: "all heads",
  size: (layers: number, heads: number) =>
    `${count(layers, "en", ["layer", "layers", "layers"])}, ${count(heads, "en", ["head", "heads", "heads"])}`,
  grid: (heads: number) =>
    `All ${count(heads, "en", ["head", "heads", "heads"])}. Arrows move, Enter opens a head, Space chooses it for a combination.`,
  number: "number below",
  numbers: {
    first: "first token",
    previous: "previous token",
    own: "itself",
    entropy: "entropy",
    distance: "distance",
    induction: "induction",
    locked: "what is chosen in the map",
  } satisfies Record<Shows, string>,
  numberIs: {
    first: "How much of a row goes to the first token, on average. A head with nothing to do rests there.",
    previous: "How much of a row goes to the token just before it, on average.",
    own: "How much of a row stays with the token itself, on average.",
    entropy: "How widely a row is spread, on average, in nats: 0 = all on one token.",
    distance: "How far from itself a row looks, on average, in tokens.",
    induction: "Where a token has been in the text before: how much goes to what came right after it then, on average.",
  } satisfies Record<Measure, string>,
  lockedIs: {
    cell: "What each head gives to the chosen cell.",
    row: "The largest weight that each head has in the chosen row.",
    column: "What the chosen column receives from each head, on average.",
  },
  order: "order",
  orders: { layer: "by layer", most: "largest first", least: "smallest first" } satisfies Record<Order, string>,
  layer: "layer",
  head: "head",
  measuring: (percent: string) => `measuring: ${percent}`,
  pictures: "fetching small pictures…",
  rough: "small pictures of every 16th row; the exact ones are being made",
  height: "Height of the heads",
  cell: (name: string, number: string, value: string, open: boolean, chosen: boolean) =>
    `head ${name}: ${value}, ${number}${open ? ", open in the map" : ""}${chosen ? ", chosen" : ""}`,
  unknown: "not known",
  choose: "choose for a combination (Space)",

  // which heads look here
  which: "Which heads look here?",
  whichSays: {
    cell: (query: string, key: string) => `how much ${query} gives to ${key}, head by head`,
    row: (query: string) => `the largest weight of ${query}, head by head`,
    column: (key: string) => `what ${key} receives, head by head`,
  },
  asking: "asking all heads…",
  line: (name: string, part: string, at: string | null) => `head ${name} ${at ?? ""} ${part}`,
  more: (many: number) => `${grouped(many, "en")} more`,
  fewer: "fewer",
  none: "No recorded head may look here.",

  // combinations
  combine: "Combine heads",
  chosen: (heads: number) => `${count(heads, "en", ["head", "heads", "heads"])} chosen`,
  chooseHeads: "combine",
  chooseHint: "Click heads, or press Space on them: their mean, their largest or the difference of two becomes the map.",
  mean: "mean",
  max: "largest",
  less: (one: string, other: string) => `${one} less ${other}`,
  clear: "choose none",
  masked: "masked less unmasked",
  maskedIs: "What the mask changes: this head under its mask less the same q and k without it.",
  other: "less another recording",
  otherPick: "choose a recording…",
  otherIs: "The same head in another recording of the same text.",
  applying: "preparing…",
  refused: "This combination cannot be shown:",

  // what is shown
  shows: {
    mean: (many: number) => `mean of ${count(many, "en", ["head", "heads", "heads"])}`,
    max: (many: number) => `largest of ${count(many, "en", ["head", "heads", "heads"])}`,
    less: (one: string, other: string) => `head ${one} less head ${other}`,
    lessOther: (one: string, other: string, recording: string) => `head ${one} less head ${other} of ${recording}`,
    masked: (one: string) => `head ${one}: masked less unmasked`,
    unknown: (text: string) => `“${text}” is no combination`,
  },
  otherRecording: "another recording",
  back: (name: string) => `back to head ${name}`,
  reduces: { max: "the largest", mean: "the mean", share: "the share" } satisfies Record<Reduce, string>,
  farthest: "what is farthest from 0", // the largest of a difference
  exact: (now: string, later: string, many: boolean, side: number) =>
    `From this far ${now} ${many ? "are" : "is"} exact; ${later} only where a pixel stands for at most ${grouped(side, "en")} × ${grouped(side, "en")} cells.`,
  exactNone: (later: string, side: number) =>
    `An exact picture of ${later} is there only where a pixel stands for at most ${grouped(side, "en")} × ${grouped(side, "en")} cells.`,
  zoomIn: (what: string) => `Zoom in to see ${what}.`,
  instead: (what: string) => `show ${what}`,
  shown: "What the map shows",
  helpKeys: [
    ["H", "fold all heads out · in"],
    ["there: Enter · Space", "open a head · choose it for a combination"],
  ],
};

const cs: typeof en = {
  all: "všechny hlavy",
  size: (layers, heads) => `${count(layers, "cs", ["vrstva", "vrstvy", "vrstev"])}, ${count(heads, "cs", ["hlava", "hlavy", "hlav"])}`,
  grid: (heads) =>
    `Všechny hlavy: ${grouped(heads, "cs")}. Šipky posouvají, Enter hlavu otevře, mezerník ji vybere do kombinace.`,
  number: "číslo pod hlavou",
  numbers: {
    first: "první token",
    previous: "předchozí token",
    own: "token sám",
    entropy: "entropie",
    distance: "vzdálenost",
    induction: "indukce",
    locked: "co je vybráno v mapě",
  },
  numberIs: {
    first: "Jaký díl řádku připadá v průměru na první token. Odpočívá na něm hlava, která nemá co dělat.",
    previous: "Jaký díl řádku připadá v průměru na token těsně před ním.",
    own: "Jaký díl řádku si token v průměru nechává sám.",
    entropy: "Jak široce se řádek v průměru rozděluje, v natech: 0 = všechno na jeden token.",
    distance: "Jak daleko od sebe řádek v průměru hledí, v tokenech.",
    induction: "Byl-li už token v textu dřív: jaký díl připadá v průměru na to, co tehdy stálo hned za ním.",
  },
  lockedIs: {
    cell: "Kolik která hlava dává vybranému políčku.",
    row: "Největší váha, jakou která hlava ve vybraném řádku má.",
    column: "Kolik od které hlavy v průměru dostává vybraný sloupec.",
  },
  order: "pořadí",
  orders: { layer: "podle vrstev", most: "od největšího", least: "od nejmenšího" },
  layer: "vrstva",
  head: "hlava",
  measuring: (percent) => `měřím: ${percent}`,
  pictures: "načítám obrázky…",
  rough: "obrázky zatím z každého 16. řádku; přesné se počítají",
  height: "Výška hlav",
  cell: (name, number, value, open, chosen) =>
    `hlava ${name}: ${value}, ${number}${open ? ", otevřená v mapě" : ""}${chosen ? ", vybraná" : ""}`,
  unknown: "není známo",
  choose: "vybrat do kombinace (mezerník)",

  which: "Které hlavy se sem dívají?",
  whichSays: {
    cell: (query, key) => `kolik dává ${query} klíči ${key}, hlavu po hlavě`,
    row: (query) => `největší váha, jakou ${query} dává, hlavu po hlavě`,
    column: (key) => `kolik dostává ${key}, hlavu po hlavě`,
  },
  asking: "ptám se všech hlav…",
  line: (name, part, at) => `hlava ${name} ${at ?? ""} ${part}`,
  more: (many) => count(many, "cs", ["další", "další", "dalších"]),
  fewer: "méně",
  none: "Žádná zaznamenaná hlava se sem dívat nesmí.",

  combine: "Kombinovat hlavy",
  chosen: (heads) => count(heads, "cs", ["vybraná hlava", "vybrané hlavy", "vybraných hlav"]),
  chooseHeads: "kombinovat",
  chooseHint: "Klikejte na hlavy nebo je vybírejte mezerníkem: mapa ukáže jejich průměr, největší hodnotu nebo rozdíl dvou.",
  mean: "průměr",
  max: "největší",
  less: (one, other) => `${one} minus ${other}`,
  clear: "zrušit výběr",
  masked: "s maskou minus bez masky",
  maskedIs: "Co mění maska: od této hlavy s maskou se odečte táž hlava bez masky.",
  other: "minus jiný záznam",
  otherPick: "vyberte záznam…",
  otherIs: "Táž hlava v jiném záznamu stejného textu.",
  applying: "připravuji…",
  refused: "Tuto kombinaci nelze ukázat:",

  shows: {
    mean: (many) => `průměr z ${many}\u00a0hlav`,
    max: (many) => `největší z ${many}\u00a0hlav`,
    less: (one, other) => `hlava ${one} minus hlava ${other}`,
    lessOther: (one, other, recording) => `hlava ${one} minus hlava ${other} ze záznamu ${recording}`,
    masked: (one) => `hlava ${one}: s maskou minus bez masky`,
    unknown: (text) => `„${text}“ není žádná kombinace`,
  },
  otherRecording: "jiný záznam",
  back: (name) => `zpět k hlavě ${name}`,
  reduces: { max: "největší hodnotu", mean: "průměr", share: "podíl" },
  farthest: "hodnotu nejdál od nuly",
  exact: (now, later, _many, side) =>
    `Z této dálky lze přesně ukázat ${now}; ${later} až tam, kde bod zastupuje nejvýš ${grouped(side, "cs")} × ${grouped(side, "cs")} políček.`,
  exactNone: (later, side) => `Přesně lze ukázat ${later} až tam, kde bod zastupuje nejvýš ${grouped(side, "cs")} × ${grouped(side, "cs")} políček.`,
  zoomIn: (what) => `Přibližte si mapu a uvidíte ${what}.`,
  instead: (what) => `ukázat ${what}`,
  shown: "Co mapa ukazuje",
  helpKeys: [
    ["H", "rozložit · složit všechny hlavy"],
    ["tam: Enter · mezerník", "otevřít hlavu · vybrat ji do kombinace"],
  ],
};

export const headsWords = { en, cs: tied(cs) };
