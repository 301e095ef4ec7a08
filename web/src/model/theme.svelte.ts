// Light, dark, or as the system says. The choice is the reader's and stays on this machine.
import { recall, remember } from "./memory";

export type ThemeChoice = "auto" | "light" | "dark";
export type Theme = "light" | "dark";

const KEY = "pozor.theme";
const asked = typeof matchMedia === "undefined" ? null : matchMedia("(prefers-color-scheme: dark)");

export const theme = $state<{ choice: ThemeChoice; now: Theme }>({ choice: "auto", now: "light" });

export function startTheme(): void {
  const stored = recall(KEY);
  theme.choice = stored === "light" || stored === "dark" ? stored : "auto";
  asked?.addEventListener("change", apply);
  apply();
}

export function setTheme(choice: ThemeChoice): void {
  theme.choice = choice;
  remember(KEY, choice === "auto" ? null : choice);
  apply();
}

function apply(): void {
  theme.now = theme.choice === "auto" ? (asked?.matches ? "dark" : "light") : theme.choice;
  document.documentElement.dataset["theme"] = theme.now;
}
