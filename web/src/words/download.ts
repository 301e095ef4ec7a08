// Words of the files to take away.
import type { Form } from "../read/source";
import { grouped } from "./numbers";
import type { Language } from "../read/documents";

export const downloadWords = {
  cs: {
    save: "uložit",
    what: (queries: number, keys: number): string => `Co je vidět: ${grouped(queries, "cs")} × ${grouped(keys, "cs")} políček`,
    forms: {
      png: "obrázek PNG",
      svg: "obrázek SVG",
      pdf: "obrázek PDF",
      csv: "čísla CSV",
      npz: "čísla npz (NumPy)",
    } satisfies Record<Form, string>,
    tooMany: (most: number): string => `Čísla se ukládají nejvýš po ${grouped(most, "cs")} políčkách. Přibližte mapu.`,
    making: "Soubor se připravuje…",
    oneHead: "Soubor se dělá z jedné hlavy, ne ze složené mapy.",
  },
  en: {
    save: "save",
    what: (queries: number, keys: number): string => `What is seen: ${grouped(queries, "en")} × ${grouped(keys, "en")} cells`,
    forms: {
      png: "picture, PNG",
      svg: "picture, SVG",
      pdf: "picture, PDF",
      csv: "numbers, CSV",
      npz: "numbers, npz (NumPy)",
    } satisfies Record<Form, string>,
    tooMany: (most: number): string => `Numbers are saved up to ${grouped(most, "en")} cells at a time. Zoom in.`,
    making: "The file is being made…",
    oneHead: "A file is made of one head, not of a combination.",
  },
};
export type DownloadWords = (typeof downloadWords)[Language];
