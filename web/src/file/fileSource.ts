// The single file's source: the page's own engine, in a classic worker made of text, or in the page where none may run.
import { ServerError } from "../read/api";
import { askingSource, type Given, type Payload } from "../read/asking";
import type { Source } from "../read/source";
import { serve, type Question, type Said } from "./engine/serve";
import Engine from "./engine/worker?worker&inline";
import type { FileDocument } from "./held";

/** What computes, and where. */
export interface Computing {
  kind: "wasm" | "js";
  place: "worker" | "page";
}

export interface FileSource extends Source {
  readonly engine: Promise<Computing>;
}

type Texts = Readonly<Record<string, string>>;
type Hear = (said: Said, place: Computing["place"]) => void;

/** Serve a file; texts are the base64 of its arrays by name. */
export function fileSource(document: FileDocument, texts: Texts): FileSource {
  const waiting = new Map<number, { resolve(said: Said): void; reject(failure: unknown): void }>();
  let last = 0;
  let ready: (found: Computing) => void = () => undefined;
  const engine = new Promise<Computing>((resolve) => (ready = resolve));
  const send = start(document, texts, (said, place) => {
    if ("ready" in said) return ready({ kind: said.ready, place });
    const one = waiting.get(said.n);
    waiting.delete(said.n);
    if ("error" in said) one?.reject(new ServerError(said.status, said.error));
    else one?.resolve(said);
  });

  function ask(name: string, given: Given, signal?: AbortSignal): Promise<Said> {
    const n = (last += 1);
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      waiting.set(n, { resolve, reject });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(n)) return;
        send({ cancel: [n] });
        reject(signal.reason);
      });
      send({ n, ask: name, given });
    });
  }

  const { download: _, ...source } = askingSource("file", {
    async document<Document>(name: string, given: Given, signal?: AbortSignal): Promise<Document> {
      const said = await ask(name, given, signal);
      return ("document" in said ? said.document : null) as Document; // typed on the other side
    },
    async payload(name: string, given: Given, signal?: AbortSignal): Promise<Payload> {
      const said = await ask(name, given, signal);
      return "payload" in said ? { buffer: said.payload, preview: said.preview } : { buffer: new ArrayBuffer(0), preview: false };
    },
  });
  return { ...source, engine };
}

/** A worker, or, where the browser or the frame around the page allows none, the same in the page. */
function start(document: FileDocument, texts: Texts, hear: Hear): (question: Question) => void {
  let send: ((question: Question) => void) | null = null;
  let heard = false;
  const early: Question[] = []; // asked before a worker that fails has failed
  const here = (): void => {
    send = serve(document, texts, (said) => hear(said, "page"));
    for (const question of early.splice(0)) send(question);
  };
  try {
    const worker = new Engine();
    worker.onmessage = ({ data }: MessageEvent<Said>) => {
      heard = true;
      early.length = 0;
      hear(data, "worker");
    };
    worker.onerror = () => {
      if (!heard) here();
    };
    send = (question) => {
      if (!heard) early.push(question);
      worker.postMessage(question);
    };
    worker.postMessage({ start: { document, texts } });
  } catch {
    here();
  }
  return (question) => (send === null ? early.push(question) : send(question));
}
