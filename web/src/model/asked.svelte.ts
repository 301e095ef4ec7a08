// The answer to the latest question. An older answer stays (marked stale) until the newer one is here.
import { aborted } from "../read/api";

export class Asked<Document> {
  /** The last answer that came, and the question it answers. */
  value = $state.raw<Document | null>(null);
  of = $state("");
  failure = $state.raw<unknown>(null);
  asking = $state("");
  private abort: AbortController | null = null;

  get stale(): boolean {
    return this.asking !== "" && this.asking !== this.of;
  }

  /** Ask, unless this question is being asked or answered already. `question` names it. */
  ask(question: string, fetcher: (signal: AbortSignal) => Promise<Document>): void {
    if (question === this.asking) return;
    this.abort?.abort();
    const abort = new AbortController();
    this.abort = abort;
    this.asking = question;
    this.failure = null;
    fetcher(abort.signal).then(
      (value) => {
        if (abort.signal.aborted) return;
        this.value = value;
        this.of = question;
      },
      (failure: unknown) => {
        if (abort.signal.aborted || aborted(failure)) return;
        this.failure = failure;
        this.value = null;
        this.of = "";
      },
    );
  }

  clear(): void {
    this.abort?.abort();
    this.abort = null;
    this.asking = "";
    this.of = "";
    this.value = null;
    this.failure = null;
  }
}
