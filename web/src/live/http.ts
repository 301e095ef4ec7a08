// The routes of the live page.
import { answer, post } from "../read/api";
import type { LiveDocument, LiveStepDocument } from "../read/documents";
import { Attention } from "./attention";

export interface Read {
  document: LiveDocument;
  attention: Attention;
}

export const live = {
  read: async (text: string, temperature: number, seed: number): Promise<Read> => {
    const document = await post<LiveDocument>("api/live", { text, temperature, seed });
    const response = await answer(`api/live/${encodeURIComponent(document.id)}/probs`, {});
    const { layers, heads, tokens } = document;
    return { document, attention: Attention.from(await response.arrayBuffer(), layers, heads, tokens.length) };
  },
  step: (id: string) => post<LiveStepDocument>(`api/live/${encodeURIComponent(id)}/step`, {}),
};
