// The exercises' messages over HTTP, and the process of the lessons.
import { opened, Refused, type Message, type Serve } from "../exercise/serve";
import { answer, post, search, ServerError } from "../read/api";
import type { LearnDocument } from "../read/documents";
import type { Language } from "../words/language.svelte";

async function ask(message: Message): Promise<unknown> {
  try {
    return await post<unknown>("api/exercise", message);
  } catch (failure) {
    if (failure instanceof ServerError && failure.status === 400 && failure.message !== "") throw new Refused(failure.message);
    throw failure;
  }
}

export const serve: Serve = async (message) => opened(await ask(message));

export const lessons = {
  how: async (lang: Language): Promise<LearnDocument> => (await (await answer(`api/learn?${search({ lang })}`, {})).json()) as LearnDocument,
  open: (lesson: number, lang: Language) => post<LearnDocument>("api/learn", { lesson, lang }),
};
