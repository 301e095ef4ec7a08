// The single file: what its page says beside the map.
import type { Language } from "./language.svelte";

interface FileWords {
  broken: string;
  tooOld: string;
  newer: string;
  rounded(change: string): string;
  slow: string;
}

export const fileWords: Record<Language, FileWords> = {
  en: {
    broken: "The map in this file cannot be shown, only its picture.",
    tooOld: "This browser is too old to show the map; it needs one of 2023 or newer. The picture shows the whole matrix.",
    newer: "This file was written by a newer pozor than the page inside it. Write it again.",
    rounded: (change) =>
      `Queries and keys are rounded in this file, and everything is computed from the rounded ones: a probability changes by at most ${change}.`,
    slow: "WebAssembly is not allowed here, so JavaScript computes, more slowly.",
  },
  cs: {
    broken: "Mapu v\u00a0tomto souboru nejde ukázat, jen její obrázek.",
    tooOld: "Na mapu je tento prohlížeč příliš starý; stačí kterýkoli z\u00a0roku 2023 nebo novější. Obrázek ukazuje celou matici.",
    newer: "Tento soubor zapsal pozor novější, než je stránka v\u00a0něm. Zapište ho znovu.",
    rounded: (change) =>
      `Dotazy a\u00a0klíče jsou v\u00a0tomto souboru zaokrouhlené a\u00a0všechno se počítá ze zaokrouhlených: pravděpodobnost se změní nejvýš o\u00a0${change}.`,
    slow: "WebAssembly tu není povolený, počítá tedy JavaScript, a\u00a0to pomaleji.",
  },
};
