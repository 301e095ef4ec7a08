// Words of reading a long map: finding, going to a place, whole words, the small map, distances, keys left out.
import { count, grouped } from "./numbers";
import { tied } from "./tied";

const en = {
  tools: "Find a place",
  find: "find",
  findHint: "a word in the text",
  foundOf: (now: number, all: number) => `${grouped(now, "en")} of ${grouped(all, "en")}`,
  foundNone: "not found",
  foundMany: (all: number) => `${count(all, "en", ["place", "places", "places"])}; Enter goes to the next`,
  previousHit: "previous place (Shift + Enter)",
  nextHit: "next place (Enter)",
  hitRow: "its row",
  hitColumn: "its column",
  announceHit: (now: number, all: number, index: number, word: string) => `place ${now} of ${all}: token ${index}, ${word}`,
  goto: "token",
  gotoHint: (last: number) => `number of a token, 0 to ${last}`,
  gotoOutside: (last: number) => `Tokens have the numbers 0 to ${last}.`,
  wholeWords: "whole words",
  wholeWordsIs: "Pieces of a word stand together: as a key their parts add up, as a query the last piece speaks for the word.",
  reading: "The text comes in a moment…",
  strip: "Where in the text the light falls",

  minimap: (rows: string, columns: string) => `The whole map. In view: rows ${rows}, columns ${columns}. Arrows move the window.`,
  minimapFold: "hide the small map",
  minimapUnfold: "show the small map",

  making: (part: string) => `Preview: every 16th row. The whole is being worked out, ${part} done.`,
  makingName: "How much of the map is worked out",

  distance: "by distance",
  distanceIs: "How much of the attention goes how many tokens back",
  distanceAhead: "← ahead · back →",
  bin: (from: number, to: number) => (from === to ? String(from) : `${from}–${to}`),
  binSays: (tokens: string, part: string, ahead: boolean) => `${tokens} ${tokens === "1" ? "token" : "tokens"} ${ahead ? "ahead" : "back"}: ${part}`,
  itself: "itself",

  hide: (word: string) => `Leave ${word} out: the row without this key`,
  show: (word: string) => `Take ${word} in again`,
  left: (many: number) => `without ${count(many, "en", ["key", "keys", "keys"])}`,
  leftIs: "The row as it would be if these keys could not be seen. The map does not change.",
  showAll: "take all in again",

  wordColumn: (pieces: number) => `All ${pieces} pieces of the word together; queries are the last pieces of words.`,
  keys: [
    ["/ · F", "find a word; Enter the next, Shift + Enter the one before"],
    ["N · P", "next · previous place of what was sought"],
    ["G", "go to a token"],
    ["W", "whole words or pieces"],
    ["X", "leave the key under the crosshair out of the chosen row, or take it in"],
  ],
};

const cs: typeof en = {
  tools: "Najít místo",
  find: "najít",
  findHint: "slovo v textu",
  foundOf: (now, all) => `${grouped(now, "cs")}. z ${grouped(all, "cs")}`,
  foundNone: "nenalezeno",
  foundMany: (all) => `${count(all, "cs", ["místo", "místa", "míst"])}; Enter jde na další`,
  previousHit: "předchozí místo (Shift + Enter)",
  nextHit: "další místo (Enter)",
  hitRow: "jeho řádek",
  hitColumn: "jeho sloupec",
  announceHit: (now, all, index, word) => `místo ${now} z ${all}: token ${index}, ${word}`,
  goto: "token",
  gotoHint: (last) => `číslo tokenu, 0 až ${last}`,
  gotoOutside: (last) => `Tokeny mají čísla 0 až ${last}.`,
  wholeWords: "celá slova",
  wholeWordsIs: "Kousky slova stojí spolu: jako klíč se jejich díly sčítají, jako dotaz mluví za slovo poslední kousek.",
  reading: "Text hned přijde…",
  strip: "Kam v textu dopadá světlo",

  minimap: (rows, columns) => `Celá mapa. Vidět je: řádky ${rows}, sloupce ${columns}. Šipky posouvají okno.`,
  minimapFold: "skrýt malou mapu",
  minimapUnfold: "ukázat malou mapu",

  making: (part) => `Náhled: každý 16. řádek. Celek se počítá, hotovo ${part}.`,
  makingName: "Kolik z mapy je spočítáno",

  distance: "podle vzdálenosti",
  distanceIs: "Kolik pozornosti jde o kolik tokenů zpět",
  distanceAhead: "← napřed · zpět →",
  bin: (from, to) => (from === to ? String(from) : `${from}–${to}`),
  binSays: (tokens, part, ahead) => `o ${tokens} tokenů ${ahead ? "napřed" : "zpět"}: ${part}`,
  itself: "na sebe",

  hide: (word) => `Vynechat ${word}: řádek bez tohoto klíče`,
  show: (word) => `Vrátit ${word}`,
  left: (many) => `bez ${count(many, "cs", ["klíče", "klíčů", "klíčů"])}`,
  leftIs: "Řádek, jak by vypadal, kdyby tyto klíče nebylo vidět. Mapa se nemění.",
  showAll: "vrátit všechny",

  wordColumn: (pieces) => `Všech ${pieces} kousků slova dohromady; dotazy jsou poslední kousky slov.`,
  keys: [
    ["/ · F", "najít slovo; Enter další místo, Shift + Enter předchozí"],
    ["N · P", "další · předchozí místo hledaného"],
    ["G", "přejít na token"],
    ["W", "celá slova, nebo kousky"],
    ["X", "klíč pod křížem z vybraného řádku vynechat, nebo vrátit"],
  ],
};

export const readingWords = { en, cs: tied(cs) };
