// All exercises by title, asked for once a language.
import type { ExerciseLine } from "../read/documents";
import type { Language } from "../words/language.svelte";
import { serve } from "./http";

let lists = $state.raw<Partial<Record<Language, readonly ExerciseLine[]>>>({});
let failure = $state.raw<unknown>(null);

export const exercises = {
  /** null until they are here; the last known language meanwhile. */
  in(lang: Language): readonly ExerciseLine[] | null {
    return lists[lang] ?? lists[lang === "cs" ? "en" : "cs"] ?? null;
  },
  get failure(): unknown {
    return failure;
  },
  ask(lang: Language): void {
    if (lists[lang] !== undefined) return;
    failure = null;
    serve<"list">({ ask: "list", lang }).then(
      ({ exercises: list }) => {
        lists = { ...lists, [lang]: list };
      },
      (why: unknown) => {
        failure = why;
      },
    );
  },
};
