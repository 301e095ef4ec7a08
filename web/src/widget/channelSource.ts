// The notebook's source: questions to Python over the widget's channel, numbered, several in one message, cancellable.
import { ServerError } from "../read/api";
import { askingSource, type Asker, type Given, type Payload } from "../read/asking";
import type { Source } from "../read/source";
import type { Kernel, Model } from "./model";

/** How the channel is: "late" while something has waited for long, "gone" when nothing can be asked any more. */
export type Line = "well" | "late" | "gone";

interface Head {
  n: number;
  packed?: boolean;
  part?: number;
  of?: number;
  preview?: boolean;
  error?: string;
  status?: number;
}

interface Waiting {
  parts: (Uint8Array | undefined)[];
  done: (answer: { bytes: Uint8Array; head: Head }) => void;
  failed: (failure: unknown) => void;
  since: number;
}

// where Jupyter's widgets run: the channel was closed, the kernel is being restarted, the kernel as its manager knows it
const ENDS = ["comm:close", "comm_live_update"];
const ENDED = new Set(["dead", "terminating", "restarting", "autorestarting"]);

export const PATIENCE = 8_000; // milliseconds until the reader is told; a kernel may be running a cell

export function channelSource(
  model: Model<object>,
  told: (line: Line) => void = () => undefined,
  patience = PATIENCE,
): { source: Source; stop: () => void } {
  const waiting = new Map<number, Waiting>();
  // two views may show one object: numbers that start elsewhere keep their answers apart
  let last = Math.floor(Math.random() * 2 ** 30);
  let asked: { n: number; ask: string; given: Given }[] = [];
  let dropped: number[] = [];
  let line: Line = "well";
  let sending = false;

  const tell = (now: Line): void => {
    if (line !== now) told((line = now));
  };
  const send = (content: unknown): void => {
    try {
      model.send(content);
    } catch {
      gone(); // Jupyter Lab cannot send to a kernel that has ended
    }
  };
  /** What was asked in one turn of the page goes in one message; a question that was dropped meanwhile does not. */
  const soon = (): void => {
    if (sending) return;
    sending = true;
    queueMicrotask(() => {
      sending = false;
      const questions = asked.filter(({ n }) => waiting.has(n));
      const cancelled = dropped;
      asked = [];
      dropped = [];
      if (cancelled.length > 0) send({ cancel: cancelled });
      if (questions.length > 0) send(questions);
    });
  };
  const came = (content: unknown, buffers?: readonly (DataView | ArrayBuffer)[]): void => {
    if (!isHead(content)) return;
    const one = waiting.get(content.n);
    if (one === undefined) return;
    tell("well");
    one.since = performance.now();
    if (content.error !== undefined) {
      waiting.delete(content.n);
      one.failed(new ServerError(content.status ?? 500, content.error));
      return;
    }
    one.parts[content.part ?? 0] = bytesOf(buffers?.[0]);
    for (let part = 0; part < (content.of ?? 1); part++) if (one.parts[part] === undefined) return;
    waiting.delete(content.n);
    one.done({ bytes: joined(one.parts as Uint8Array[]), head: content });
  };
  const ask = (name: string, given: Given, signal?: AbortSignal): Promise<{ bytes: Uint8Array; head: Head }> =>
    new Promise((done, failed) => {
      if (signal?.aborted) {
        failed(new DOMException("", "AbortError"));
        return;
      }
      const n = (last += 1); // where nobody can answer it waits, and the reader is told why
      waiting.set(n, { parts: [], done, failed, since: performance.now() });
      asked.push({ n, ask: name, given });
      signal?.addEventListener("abort", () => {
        if (!waiting.delete(n)) return;
        if (!asked.some((one) => one.n === n)) dropped.push(n);
        soon();
        failed(new DOMException("", "AbortError"));
      });
      soon();
    });
  const gone = (): void => tell("gone");
  const kernel = (): Kernel | null => model.widget_manager?.kernel ?? null;
  const had = kernel() !== null;
  const look = setInterval(() => {
    const now = kernel();
    if (had && (now === null || now.isDisposed === true || ENDED.has(now.status ?? ""))) gone();
    const oldest = Math.min(...[...waiting.values()].map(({ since }) => since));
    if (line !== "gone" && performance.now() - oldest > patience) tell("late");
  }, Math.min(1000, patience / 2));
  model.on("msg:custom", came);
  for (const end of ENDS) model.on(end, gone);
  const asker: Asker = {
    document: async <Document>(name: string, given: Given, signal?: AbortSignal) => {
      const { bytes, head } = await ask(name, given, signal);
      return JSON.parse(new TextDecoder().decode(await opened(bytes, head))) as Document;
    },
    payload: async (name: string, given: Given, signal?: AbortSignal): Promise<Payload> => {
      const { bytes, head } = await ask(name, given, signal);
      const open = await opened(bytes, head);
      const buffer = open.buffer.slice(open.byteOffset, open.byteOffset + open.byteLength) as ArrayBuffer;
      return { buffer, preview: head.preview === true };
    },
  };
  return {
    source: askingSource("notebook", asker),
    stop: () => {
      clearInterval(look);
      model.off("msg:custom", came);
      for (const end of ENDS) model.off(end, gone);
      if (waiting.size > 0 && line !== "gone") send({ cancel: [...waiting.keys()] });
      waiting.clear();
    },
  };
}

function isHead(content: unknown): content is Head {
  return typeof content === "object" && content !== null && "n" in content && typeof content.n === "number";
}

function bytesOf(buffer: DataView | ArrayBuffer | undefined): Uint8Array {
  if (buffer === undefined) return new Uint8Array();
  return ArrayBuffer.isView(buffer) ? new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength) : new Uint8Array(buffer);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

async function opened(bytes: Uint8Array, head: Head): Promise<Uint8Array> {
  if (head.packed !== true) return bytes;
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
