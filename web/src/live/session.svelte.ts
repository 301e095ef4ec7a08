// A text that the model has read and goes on with.
import { anySeed } from "../exercise/serve";
import { ServerError } from "../read/api";
import type { LiveDocument, LiveStepDocument } from "../read/documents";
import type { Attention } from "./attention";
import { live } from "./http";
import { goesOn } from "./words";

const PAUSE = 450; // milliseconds between two words: time enough to see the newest row

/** Is its last piece more than a blank or the end of a line? */
function isSeen({ text, tokens }: LiveStepDocument): boolean {
  const last = tokens.at(-1);
  return last !== undefined && text.slice(last.start, last.stop).trim() !== "";
}

export class Session {
  document = $state.raw<LiveDocument | null>(null);
  attention = $state.raw<Attention | null>(null);
  failure = $state.raw<unknown>(null);
  /** The reader's own part of the text, UTF-16 units. */
  typed = $state(0);
  busy = $state(false);
  playing = $state(false);
  private ahead: LiveStepDocument | null = null; // the first piece of the next word, which ended this one
  private question = 0;
  private temperature = 0.8;

  async read(text: string, temperature: number, seed = anySeed()): Promise<void> {
    this.playing = false;
    this.temperature = temperature;
    await this.ask(text, seed);
    this.typed = text.length;
  }

  private async ask(text: string, seed: number): Promise<void> {
    const question = ++this.question;
    this.failure = null;
    this.busy = true;
    try {
      const { document, attention } = await live.read(text, this.temperature, seed);
      if (question !== this.question) return;
      this.document = document;
      this.attention = attention;
      this.ahead = null;
    } catch (failure) {
      if (question === this.question) this.failure = failure;
    }
    if (question === this.question) this.busy = false;
  }

  get full(): boolean {
    return this.document !== null && this.document.room <= 0;
  }

  /** One word more, or one mark. */
  async word(): Promise<void> {
    if (this.busy || this.document === null || this.full) return;
    const question = this.question;
    this.busy = true;
    const pieces: LiveStepDocument[] = []; // drawn together: a picture of all heads a word, not a piece
    try {
      for (;;) {
        const step = this.ahead ?? (await this.step());
        if (question !== this.question || step === null) return;
        this.ahead = null;
        if (pieces.some(isSeen) && !goesOn(step, step.tokens.length - 1)) {
          this.ahead = step;
          break;
        }
        pieces.push(step);
        if (step.room <= 0) break;
      }
    } catch (failure) {
      if (question === this.question) {
        this.failure = failure;
        this.playing = false;
      }
    } finally {
      if (question === this.question) {
        this.take(pieces);
        this.busy = false;
      }
    }
  }

  /** Word after word, until it is stopped or there is no more room. */
  async play(): Promise<void> {
    if (this.playing) return;
    this.playing = true;
    const question = this.question;
    while (this.playing && !this.full && this.failure === null) {
      await this.word();
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      if (question !== this.question) return;
    }
    this.playing = false;
  }

  stop(): void {
    this.playing = false;
  }

  leave(): void {
    this.question++;
    this.playing = false;
  }

  private async step(): Promise<LiveStepDocument | null> {
    const { document } = this;
    if (document === null) return null;
    try {
      return await live.step(document.id);
    } catch (failure) {
      if (!(failure instanceof ServerError) || failure.status !== 404) throw failure;
      await this.ask(document.text, anySeed()); // the server let go of it, or was started anew
      return null;
    }
  }

  private take(pieces: readonly LiveStepDocument[]): void {
    const last = pieces.at(-1);
    if (this.document === null || this.attention === null || last === undefined) return;
    this.attention = pieces.reduce((attention, { rows }) => attention.longer(rows), this.attention);
    this.document = { ...this.document, text: last.text, tokens: last.tokens, room: last.room };
  }
}
