// Words of the frame around every page.
import { tied } from "./tied";

const en = {
  title: "pozor",
  meaning: "attention you can see and check by hand",
  home: "Home",
  language: "Language",
  theme: "Appearance",
  themes: { auto: "as the system", light: "light", dark: "dark" },
  lost: (path: string) => `There is no page “${path}” here.`,
  lostBack: "Back to the start",
  skip: "Skip to the content",
};
const cs: typeof en = {
  title: "pozor",
  meaning: "pozornost, kterou uvidíte a spočítáte si ručně",
  home: "Domů",
  language: "Jazyk",
  theme: "Vzhled",
  themes: { auto: "podle systému", light: "světlý", dark: "tmavý" },
  lost: (path: string) => `Stránka „${path}“ tu není.`,
  lostBack: "Zpět na začátek",
  skip: "Přeskočit na obsah",
};
export const shellWords = { en, cs: tied(cs) };
