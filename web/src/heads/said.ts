// The number under a head, in as few characters as tell heads apart.
import type { Shows } from "../model/headNumbers";
import type { Language } from "../words/language.svelte";
import { decimal } from "../words/numbers";

export function said(value: number, shows: Shows, lang: Language): string {
  if (shows === "entropy") return decimal(value, 2, lang);
  if (shows === "distance") return decimal(value, value < 99.95 ? 1 : 0, lang);
  const hundred = value * 100;
  if (hundred > 0 && hundred < 0.05) return `<${decimal(0.1, 1, lang)}\u00a0%`;
  return `${decimal(hundred, hundred < 9.95 ? 1 : 0, lang)}\u00a0%`;
}
