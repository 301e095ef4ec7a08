// Words of the map page. Czech: cell políčko, row řádek, column sloupec, query dotaz, key klíč, head hlava, layer vrstva.
import type { Reduce, Variant } from "../read/documents";
import type { ScaleName } from "../scales/colour";
import type { Language } from "./language.svelte";
import { count, grouped } from "./numbers";
import { tied } from "./tied";

const en = {
  // where one is
  item: "text",
  layer: "layer",
  head: "head",
  previousLayer: "previous layer ([)",
  nextLayer: "next layer (])",
  previousHead: "previous head (,)",
  nextHead: "next head (.)",
  sharedKeys: (head: number, kv: number) => `head ${head} (keys of kv head ${kv})`,
  opening: "Opening the recording…",

  // the controls
  controls: "How the map is drawn",
  mask: "mask",
  ownArrays: "arrays of one's own",
  variants: { recorded: "as recorded", causal: "causal", unmasked: "none" } satisfies Record<Variant, string>,
  masked: {
    recorded: (mask: string) => `The mask the model ran with: ${mask}.`,
    causal: "Recomputed from the same q and k with a causal mask: no word sees what comes after it.",
    causalAlready: "The model ran with this very mask, so nothing changes.",
    unmasked: "Recomputed from the same q and k without a mask: every word sees every word. The model did not run like this.",
    encoder: "The model ran without a mask (an encoder reads in both directions). A causal mask would be a different model.",
  },
  reduce: "a pixel is the",
  reduces: { max: "largest", mean: "mean", share: "share" } satisfies Record<Reduce, string>,
  reduceNames: "what one pixel shows when it stands for many cells",
  colour: "colours",
  colours: { viridis: "viridis", cividis: "cividis", magma: "magma", ink: "paper to ink", balance: "blue – orange" } satisfies Record<ScaleName, string>,
  link: "copy link",
  linked: "link copied",
  linkOpens: "The link opens in this browser while pozor runs. To send a map, send its recording: the folder NAME.pozor.",
  linkFailed: "the link is in the address bar",
  help: "keys",
  zoom: "How near",
  whole: "whole map (0)",
  zoomIn: "closer (+)",
  zoomOut: "farther (−)",

  // the legend
  hidden: "hidden by the mask",

  // the map
  mapLabel: (queries: number, keys: number) =>
    `Attention map, ${count(queries, "en", ["query", "queries", "queries"])} down, ${count(keys, "en", ["key", "keys", "keys"])} across. Arrows move, Enter opens a cell, R a row, K a column, question mark lists all keys.`,
  queriesDown: "query ↓",
  keysAcross: "key →",
  entropy: "entropy",
  entropyIs: "How widely a row spreads its attention: 0 = all on one word.",
  received: "received",
  receivedIs: "How much attention a word gets, on average, from those that may see it.",
  rowLabel: (index: number, token: string) => `row ${index} ${token}: where it looks`,
  columnLabel: (index: number, token: string) => `column ${token} ${index}: who looks at it`,
  nothingPointed: "Point at a cell to read its value.",
  pointedBlock: (rows: string, columns: string) => `rows ${rows}, columns ${columns}`,
  pointedHidden: "hidden by the mask",
  computing: "computing…",
  announceLock: {
    none: "nothing is chosen",
    row: (token: string) => `row ${token} is chosen`,
    column: (token: string) => `column ${token} is chosen`,
    cell: (query: string, key: string) => `cell ${query}, ${key} is chosen`,
  },

  // text
  text: "text",
  textEmpty: "This recording keeps no text; its tokens are on the axes.",
  textRow: "The more strongly a word is coloured, the more the chosen row looks at it.",
  textColumn: "The more strongly a word is coloured, the more it looks at the chosen one.",

  // inspector
  inspector: "details",
  map: "map",
  hints: [
    ["Click a word on the left", "where it looks"],
    ["Click a word on top", "who looks at it"],
    ["Click a cell", "its number, worked out by hand"],
  ],
  unlock: "close (Esc)",
  row: (index: number) => `row ${index}`,
  column: (index: number) => `column ${index}`,
  cell: "cell",
  quote: (token: string) => `“${token}”`,
  and: "and",
  said: {
    column: (word: string, part: string) => `${word} gets ${part} on average from those that may see it.`,
    unseen: (word: string) => `${word} may be seen by no query.`,
  },
  more: (many: number) => `… ${grouped(many, "en")} more`,
  all: "show more",
  fewer: "show fewer",
  sink: "sink (a logit without a value)",
  hiddenCount: (many: number) => `The mask hides ${count(many, "en", ["key", "keys", "keys"])}.`,
  entropyOf: (nats: string, words: string) => `Entropy ${nats} nats, as if spread evenly over ${words} words.`,
  digits: "decimals",
  exactIs: "float64, from the stored q and k",
  tileIs: "float32, what the map shows",
  differenceIs: "they differ by",
  cellHidden: "The mask hides this key from this query, so the weight is exactly 0.",
  notFinite: "not finite",

  // what the layer is
  about: "this layer",
  aboutMask: "mask",
  aboutScale: "scale",
  aboutDims: "head_dim · v_head_dim",
  aboutDtype: "stored as",
  aboutModel: "model",
  fidelity: "against the model",
  fidelityIs: (error: string) => `differs by ${error} (relative)`,
  fidelityNone: "not compared: there were only arrays",
  noNorm: "‖value‖ is not in this recording, so only weights are shown.",

  // trouble
  trouble: {
    offline: "The pozor server does not answer. Start it again in its terminal and reload this page.",
    forbidden: "This page may no longer ask the server. Open the address that pozor printed in its terminal.",
    changed: "The recording has changed on disk since it was opened.",
    missing: "There is no such recording here. Perhaps pozor was started in another folder.",
    refused: "The server refused what the page asked for:",
    broken: "The server could not answer:",
    silent: (status: number) => `The server answered ${status} and gave no reason.`,
    draw: "This page could not read a tile of the map.",
  },
  reopen: "open it again",
  retry: "try again",
  back: "to the start",
  linkOutside: (what: string, asked: number, used: number) =>
    `The link asks for ${what} ${asked}, which is not in this recording; ${what} ${used} is shown.`,
  linkCell: "The link points at a token that is not in this text, so nothing is chosen.",

  helpTitle: "Keys",
  helpClose: "close",
  helpKeys: [
    ["← ↑ → ↓", "move the crosshair, or what is chosen"],
    ["Shift + arrows", "move the map"],
    ["Enter", "choose the cell under the crosshair: its working"],
    ["R · K", "choose its row · its column"],
    ["Esc", "let go"],
    ["+ · − · 0", "closer · farther · whole map"],
    ["[ · ]", "previous · next layer"],
    [", · .", "previous · next head"],
    ["L · C · M", "logarithmic · colours · mask"],
    ["?", "this list"],
  ],
};

const cs: typeof en = {
  item: "text",
  layer: "vrstva",
  head: "hlava",
  previousLayer: "předchozí vrstva ([)",
  nextLayer: "další vrstva (])",
  previousHead: "předchozí hlava (,)",
  nextHead: "další hlava (.)",
  sharedKeys: (head, kv) => `hlava ${head} (klíče má z hlavy klíčů ${kv})`,
  opening: "Otevírám záznam…",

  controls: "Jak se mapa kreslí",
  mask: "maska",
  ownArrays: "vlastní pole čísel",
  variants: { recorded: "jako v modelu", causal: "kauzální", unmasked: "žádná" },
  masked: {
    recorded: (mask) => `Maska, se kterou model běžel: ${mask}.`,
    causal: "Přepočítáno z týchž q a k s kauzální maskou: žádné slovo nevidí, co je až za ním.",
    causalAlready: "Přesně s touto maskou model běžel, nic se tedy nemění.",
    unmasked: "Přepočítáno z týchž q a k bez masky: každé slovo vidí každé. Takhle model neběžel.",
    encoder: "Model běžel bez masky (enkodér čte oběma směry). S kauzální maskou by to byl jiný model.",
  },
  reduce: "bod je",
  reduces: { max: "největší", mean: "průměr", share: "podíl" },
  reduceNames: "co ukazuje jeden bod, když zastupuje mnoho políček",
  colour: "barvy",
  colours: { viridis: "viridis", cividis: "cividis", magma: "magma", ink: "od papíru k inkoustu", balance: "modrá – oranžová" },
  link: "zkopírovat odkaz",
  linked: "odkaz zkopírován",
  linkOpens: "Odkaz funguje v tomto prohlížeči, dokud pozor běží. Chcete-li mapu poslat, pošlete její záznam: složku JMENO.pozor.",
  linkFailed: "odkaz je v adresním řádku",
  help: "klávesy",
  zoom: "Jak zblízka",
  whole: "celá mapa (0)",
  zoomIn: "blíž (+)",
  zoomOut: "dál (−)",

  hidden: "zakryto maskou",

  mapLabel: (queries, keys) =>
    `Mapa pozornosti, ${count(queries, "cs", ["dotaz", "dotazy", "dotazů"])} shora dolů, ${count(keys, "cs", ["klíč", "klíče", "klíčů"])} zleva doprava. Šipky posouvají, Enter otevře políčko, R řádek, K sloupec, otazník vypíše všechny klávesy.`,
  queriesDown: "dotaz ↓",
  keysAcross: "klíč →",
  entropy: "entropie",
  entropyIs: "Jak široce řádek svou pozornost rozděluje: 0 = všechna na jedno slovo.",
  received: "přijato",
  receivedIs: "Kolik pozornosti slovo v průměru dostává od slov, která je smějí vidět.",
  rowLabel: (index, token) => `řádek ${index} ${token}: kam se dívá`,
  columnLabel: (index, token) => `sloupec ${token} ${index}: kdo se na něj dívá`,
  nothingPointed: "Ukažte na políčko a přečtete jeho hodnotu.",
  pointedBlock: (rows, columns) => `řádky ${rows}, sloupce ${columns}`,
  pointedHidden: "zakryto maskou",
  computing: "počítám…",
  announceLock: {
    none: "nic není vybráno",
    row: (token) => `vybrán řádek ${token}`,
    column: (token) => `vybrán sloupec ${token}`,
    cell: (query, key) => `vybráno políčko ${query}, ${key}`,
  },

  text: "text",
  textEmpty: "Záznam text neuchovává; jeho tokeny jsou na osách.",
  textRow: "Čím sytěji je slovo podbarvené, tím víc se na ně vybraný řádek dívá.",
  textColumn: "Čím sytěji je slovo podbarvené, tím víc se dívá na to vybrané.",

  inspector: "podrobnosti",
  map: "mapa",
  hints: [
    ["Klikněte na slovo vlevo", "kam se dívá"],
    ["Klikněte na slovo nahoře", "kdo se na něj dívá"],
    ["Klikněte na políčko", "jeho číslo, spočítané ručně"],
  ],
  unlock: "zavřít (Esc)",
  row: (index) => `řádek ${index}`,
  column: (index) => `sloupec ${index}`,
  cell: "políčko",
  quote: (token) => `„${token}“`,
  and: "a",
  said: {
    column: (word, part) => `${word} dostává v průměru ${part} od slov, která je smějí vidět.`,
    unseen: (word) => `Žádný dotaz nesmí ${word} vidět.`,
  },
  more: (many) => `… a ${count(many, "cs", ["další", "další", "dalších"])}`,
  all: "ukázat víc",
  fewer: "ukázat méně",
  sink: "odtok (logit bez hodnoty)",
  hiddenCount: (many) => `Maska zakrývá ${count(many, "cs", ["klíč", "klíče", "klíčů"])}.`,
  entropyOf: (nats, words) => `Entropie ${nats} natu, jako by se pozornost dělila rovným dílem mezi ${words} slova.`,
  digits: "desetinná místa",
  exactIs: "ve float64, z uložených q a k",
  tileIs: "ve float32, jak to ukazuje mapa",
  differenceIs: "liší se o",
  cellHidden: "Maska tento klíč před dotazem zakrývá, a tak je váha přesně 0.",
  notFinite: "není konečné číslo",

  about: "tato vrstva",
  aboutMask: "maska",
  aboutScale: "měřítko",
  aboutDims: "head_dim · v_head_dim",
  aboutDtype: "uloženo jako",
  aboutModel: "model",
  fidelity: "proti modelu",
  fidelityIs: (error) => `liší se o ${error} (relativně)`,
  fidelityNone: "neporovnáno: záznam vznikl jen z polí čísel",
  noNorm: "‖hodnota‖ v tomto záznamu není, proto jsou vidět jen váhy.",

  trouble: {
    offline: "Program pozor neodpovídá. Spusťte ho v terminálu znovu a pak znovu načtěte stránku.",
    forbidden: "Tato stránka už se serveru ptát nesmí. Otevřete adresu, kterou pozor vypsal v terminálu.",
    changed: "Záznam se od otevření na disku změnil.",
    missing: "Takový záznam tu není. Možná byl pozor spuštěn v jiné složce.",
    refused: "Server odmítl, oč stránka žádala:",
    broken: "Server nedokázal odpovědět:",
    silent: (status) => `Server odpověděl ${status} a důvod neuvedl.`,
    draw: "Jednu dlaždici mapy se nepodařilo přečíst.",
  },
  reopen: "otevřít znovu",
  retry: "zkusit znovu",
  back: "na začátek",
  linkOutside: (what, asked, used) =>
    `Odkaz vede na místo, které v záznamu není (${what} ${asked}); zobrazeno je: ${what} ${used}.`,
  linkCell: "Odkaz ukazuje na token, který v tomto textu není, a tak není nic vybráno.",

  helpTitle: "Klávesy",
  helpClose: "zavřít",
  helpKeys: [
    ["← ↑ → ↓", "posunout kříž nebo to, co je vybráno"],
    ["Shift + šipky", "posunout mapu"],
    ["Enter", "vybrat políčko pod křížem: jeho výpočet"],
    ["R · K", "vybrat jeho řádek · jeho sloupec"],
    ["Esc", "zrušit výběr"],
    ["+ · − · 0", "blíž · dál · celá mapa"],
    ["[ · ]", "předchozí · další vrstva"],
    [", · .", "předchozí · další hlava"],
    ["L · C · M", "logaritmicky · barvy · maska"],
    ["?", "tento seznam"],
  ],
};

const MASK_CS: readonly (readonly [RegExp, string])[] = [
  [/\bcausal\b/, "kauzální"],
  [/\bprefix\b/, "viditelný začátek"],
  [/\bwindow\b/, "okno"],
  [/\bopen\b/g, "bez meze"],
  [/\b(\d+) documents\b/, "oddělené dokumenty ($1)"],
  [/\bkey padding\b/, "výplň"],
  [/\bown documents\b/, "vlastní dokumenty"],
  [/\bown mask\b/, "vlastní maska"],
  [/\bnot known\b/, "neznámá"],
  [/\bnone\b/, "žádná"],
];

/** The mask of a layer as the recording words it, in the reader's language. */
export function maskWords(mask: string, lang: Language): string {
  if (lang === "en") return mask;
  return MASK_CS.reduce((text, [english, czech]) => text.replace(english, czech), mask);
}

export const mapWords = { en, cs: tied(cs) };
