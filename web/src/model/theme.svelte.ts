// Light, dark, or as the system says. The choice is the reader's and stays on this machine.

export type ThemeChoice = "auto" | "light" | "dark";
export type Theme = "light" | "dark";

const KEY = "pozor.theme";
const asked = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");

export const theme = $state<{ choice: ThemeChoice; now: Theme }>({ choice: "auto", now: "light" });

export function startTheme(): void {
  const stored = localStorage.getItem(KEY);
  theme.choice = stored === "light" || stored === "dark" ? stored : "auto";
  asked?.addEventListener("change", apply);
  apply();
}

export function setTheme(choice: ThemeChoice): void {
  theme.choice = choice;
  if (choice === "auto") localStorage.removeItem(KEY);
  else localStorage.setItem(KEY, choice);
  apply();
}

function apply(): void {
  theme.now = theme.choice === "auto" ? (asked?.matches ? "dark" : "light") : theme.choice;
  document.documentElement.dataset["theme"] = theme.now;
}
