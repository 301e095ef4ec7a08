// Which language the page speaks. The words themselves lie beside: one file a page.
import { chosenHere, recall, remember } from "../model/memory";

export type Language = "cs" | "en";

const KEY = "pozor.language";

export const language = $state<{ code: Language }>({ code: first() });

function first(): Language {
  const stored = recall(KEY);
  if (stored === "cs" || stored === "en") return stored;
  const asked = typeof navigator === "undefined" ? "en" : navigator.language;
  return asked.toLowerCase().startsWith("cs") ? "cs" : "en";
}

/** The reader's choice. */
export function setLanguage(code: Language): void {
  language.code = code;
  remember(KEY, code);
}

/** The language the server was started with; the reader's own choice in this tab outweighs it. */
export function suggestLanguage(code: Language | null): void {
  if (code !== null && !chosenHere(KEY)) language.code = code;
}

/** The words of a page in the language now spoken: `say(homeWords).title`. */
export function say<Words>(both: { en: Words; cs: Words }): Words {
  return both[language.code];
}
