// Which language the page speaks, and how it writes numbers. The words themselves lie beside: one file a page.

export type Language = "cs" | "en";

const KEY = "pozor.language";

export const language = $state<{ code: Language }>({ code: first() });

function first(): Language {
  const stored = typeof localStorage === "undefined" ? null : localStorage.getItem(KEY);
  if (stored === "cs" || stored === "en") return stored;
  const asked = typeof navigator === "undefined" ? "en" : navigator.language;
  return asked.toLowerCase().startsWith("cs") ? "cs" : "en";
}

export function setLanguage(code: Language, remember = true): void {
  language.code = code;
  if (remember && typeof localStorage !== "undefined") localStorage.setItem(KEY, code);
  if (typeof document !== "undefined") document.documentElement.lang = code;
}

/** The words of a page in the language now spoken: `say(homeWords).title`. */
export function say<Words>(both: { en: Words; cs: Words }): Words {
  return both[language.code];
}
