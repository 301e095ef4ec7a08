// The exercises' messages over the widget's own channel: each is numbered, and so is its answer.
import { opened, type Message, type Serve } from "../exercise/serve";
import type { Model } from "./model";

const PATIENCE = 20_000; // milliseconds: a kernel may be computing a cell first

export function channel<Traits>(model: Model<Traits>, patience = PATIENCE): { serve: Serve; stop: () => void } {
  const waiting = new Map<number, (answer: unknown) => void>();
  let last = 0;
  const came = (content: unknown): void => {
    if (typeof content !== "object" || content === null || !("serve" in content) || !("answer" in content)) return;
    const number = content.serve;
    if (typeof number !== "number") return;
    waiting.get(number)?.(content.answer);
    waiting.delete(number);
  };
  model.on("msg:custom", came);
  const ask = (message: Message): Promise<unknown> =>
    new Promise((resolve, reject) => {
      // two widgets may show one object: numbers that start elsewhere keep their answers apart
      const number = (last = last === 0 ? Math.floor(Math.random() * 2 ** 30) : last + 1);
      const late = setTimeout(() => {
        waiting.delete(number);
        reject(new Error("silent"));
      }, patience);
      waiting.set(number, (answer) => {
        clearTimeout(late);
        resolve(answer);
      });
      model.send({ serve: number, message });
    });
  return {
    serve: async (message) => opened(await ask(message)),
    stop: () => model.off("msg:custom", came),
  };
}
