// Work in steps, one at a time: questions in their order; what goes on behind only while nobody asks.
import type { Steps } from "./attention.ts";

const SLICE = 12; // ms of work between two looks at what has arrived

interface Job {
  next(): boolean; // whether it goes on
}

export class Cancelled extends Error {}

export class Jobs {
  private readonly asked: Job[] = [];
  private readonly behind: Job[] = [];
  private running = false;

  /** Run to the end; the promise is broken with Cancelled where `wanted` says so between two steps. */
  run<Result>(steps: Steps<Result>, wanted: () => boolean): Promise<Result> {
    return this.start(this.asked, steps, wanted, () => undefined);
  }

  /** Run while nobody asks. `tell` hears how far it is. */
  runBehind<Result>(steps: Steps<Result>, tell: (done: number) => void): Promise<Result> {
    return this.start(this.behind, steps, () => true, tell);
  }

  private start<Result>(queue: Job[], steps: Steps<Result>, wanted: () => boolean, tell: (done: number) => void): Promise<Result> {
    return new Promise((resolve, reject) => {
      queue.push({
        next: () => {
          if (!wanted()) {
            reject(new Cancelled());
            return false;
          }
          try {
            const step = steps.next();
            if (step.done === true) resolve(step.value);
            else tell(step.value);
            return step.done !== true;
          } catch (failure) {
            reject(failure);
            return false;
          }
        },
      });
      void this.work();
    });
  }

  private async work(): Promise<void> {
    if (this.running) return;
    this.running = true;
    for (;;) {
      await breath();
      const until = performance.now() + SLICE;
      while (performance.now() < until) {
        const queue = this.asked.length > 0 ? this.asked : this.behind;
        const job = queue[0];
        if (job === undefined) break;
        if (!job.next()) queue.splice(queue.indexOf(job), 1);
      }
      if (this.asked.length + this.behind.length === 0) break;
    }
    this.running = false;
  }
}

/** Let messages in. A timer would wait for milliseconds; a message to oneself does not. */
const channel = new MessageChannel();
const waiting: (() => void)[] = [];
channel.port1.onmessage = () => waiting.shift()?.();

function breath(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve);
    channel.port2.postMessage(null);
  });
}
