// The process that the lessons run in, as the app sees it. It may end at any time, and the page says so.
import type { LearnDocument } from "../read/documents";
import type { Language } from "../words/language.svelte";
import { lessons } from "./http";

const EVERY = 4000; // milliseconds between two looks while it lives
const PATIENCE = 40; // looks at a start, EVERY / 4 apart

export class Lessons {
  document = $state.raw<LearnDocument | null>(null);
  failure = $state.raw<unknown>(null);
  /** The lesson that is being opened. */
  opening = $state.raw<number | null>(null);
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(
    private readonly lang: () => Language,
    private readonly go: (url: string) => void,
  ) {}

  /** Look now, and again as long as there is something to see. */
  follow(): () => void {
    const look = (): void => {
      if (document.visibilityState === "visible" && this.opening === null) void this.look();
    };
    const back = (): void => {
      this.opening = null; // the reader came back to a page that was kept
      look();
    };
    look();
    this.timer = setInterval(() => {
      const state = this.document?.state;
      if (state === "running" || state === "starting") look();
    }, EVERY);
    document.addEventListener("visibilitychange", look);
    addEventListener("pageshow", back);
    return () => {
      clearInterval(this.timer);
      document.removeEventListener("visibilitychange", look);
      removeEventListener("pageshow", back);
    };
  }

  async look(): Promise<void> {
    try {
      const document = await lessons.how(this.lang());
      if (this.opening === null) this.document = document;
    } catch {
      // the list of recordings says it when the server is gone
    }
  }

  /** Open a lesson, starting the process first where there is none. */
  async open(lesson: number): Promise<void> {
    if (this.opening !== null) return;
    this.opening = lesson;
    this.failure = null;
    try {
      for (let looks = 0; looks < PATIENCE; looks++) {
        const document = await lessons.open(lesson, this.lang());
        this.document = document;
        if (document.url !== null) {
          this.go(document.url);
          return; // `opening` stays until the page is left, or shown again
        }
        if (document.state !== "starting") break;
        await new Promise((resolve) => setTimeout(resolve, EVERY / 4));
      }
    } catch (failure) {
      this.failure = failure;
    }
    this.opening = null;
  }
}
