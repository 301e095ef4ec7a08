// The classic worker of the single file: takes questions, answers in the order in which work ends.
import type { FileDocument } from "../held";
import { serve } from "./serve.ts";

interface Scope {
  onmessage: ((event: MessageEvent) => void) | null;
  postMessage(message: unknown, transfer?: Transferable[]): void;
}

const scope = self as unknown as Scope;

scope.onmessage = (event: MessageEvent<{ start: { document: FileDocument; texts: Record<string, string> } }>) => {
  const { document, texts } = event.data.start;
  const take = serve(document, texts, (answer, transfer) => scope.postMessage(answer, transfer));
  scope.onmessage = (next) => take(next.data);
};
