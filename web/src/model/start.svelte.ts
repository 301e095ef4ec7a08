// What the server was started with: the recordings of its folder, and the language asked for.
import { api } from "../read/api";
import type { StartDocument } from "../read/documents";
import { suggestLanguage } from "../words/language.svelte";

const state = $state<{ now: { document: StartDocument | null; failure: unknown } }>({
  now: { document: null, failure: null },
});
let first = true;

export const start = {
  get document(): StartDocument | null {
    return state.now.document;
  },
  get failure(): unknown {
    return state.now.failure;
  },
  /** Ask (again): recordings come and go while the page is open. */
  ask(): void {
    api.start().then(
      (document) => {
        state.now = { document, failure: null };
        if (first) suggestLanguage(document.lang);
        first = false;
      },
      (failure: unknown) => {
        state.now = { document: state.now.document, failure };
      },
    );
  },
};
