// The desk behind messages: the same in a worker and, where there can be none, in the page itself.
import type { FileDocument } from "../held";
import { Refusal, type Given } from "./asked.ts";
import { Desk, type Answer } from "./desk.ts";
import { Cancelled, Jobs } from "./jobs.ts";
import { PlainKernel } from "./plain.ts";
import { Store } from "./store.ts";
import { wasmKernel } from "./wasm.ts";

export type Question = { n: number; ask: string; given: Given } | { cancel: readonly number[] };

export type Said =
  | { ready: "wasm" | "js" }
  | { n: number; document: unknown }
  | { n: number; payload: ArrayBuffer; preview: boolean }
  | { n: number; error: string; status: number };

/** Begin to serve; `say` sends answers, `ready` first. Gives what takes the questions. */
export function serve(
  document: FileDocument,
  texts: Readonly<Record<string, string>>,
  say: (answer: Said, transfer: Transferable[]) => void,
): (question: Question) => void {
  const cancelled = new Set<number>();
  const waiting = new Set<number>();
  const desk = begin();

  async function begin(): Promise<Desk> {
    const kernel = (await wasmKernel()) ?? new PlainKernel();
    say({ ready: kernel.kind }, []);
    return new Desk(new Store(document, texts, kernel), new Jobs());
  }

  async function answer(n: number, ask: string, given: Given): Promise<void> {
    waiting.add(n);
    const wanted = (): boolean => !cancelled.has(n);
    try {
      const found: Answer = await (await desk).answer(ask, given, wanted);
      if (wanted()) say({ n, ...found }, "payload" in found ? [found.payload] : []);
    } catch (failure) {
      if (failure instanceof Cancelled) return;
      const sentence = failure instanceof Error ? failure.message : String(failure);
      if (wanted()) say({ n, error: sentence, status: failure instanceof Refusal ? failure.status : 500 }, []);
    } finally {
      cancelled.delete(n);
      waiting.delete(n);
    }
  }

  return (question) => {
    if ("cancel" in question) {
      for (const n of question.cancel) if (waiting.has(n)) cancelled.add(n);
    } else {
      void answer(question.n, question.ask, question.given);
    }
  };
}
