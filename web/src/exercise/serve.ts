// What a page may say to an exercise, and how it is answered; the seam is `exercises.serve` (docs/contracts.md).
import type {
  ExerciseDocument,
  ExercisesDocument,
  HintDocument,
  LockedDocument,
  SolutionDocument,
  VerdictDocument,
} from "../read/documents";
import type { Language } from "../words/language.svelte";

interface Which {
  id: string;
  seed: number | null;
  lang: Language;
}

export type Message =
  | { ask: "list"; lang: Language }
  | ({ ask: "exercise" } & Which)
  | ({ ask: "check"; answer: string } & Which)
  | ({ ask: "hint"; number: number } & Which)
  | ({ ask: "solution"; code: string | null } & Which);

interface Answers {
  list: ExercisesDocument;
  exercise: ExerciseDocument;
  check: VerdictDocument;
  hint: HintDocument;
  solution: SolutionDocument | LockedDocument;
}

/** Sends a message and resolves with its answer; rejects with `Refused` or when nobody answers. */
export type Serve = <Ask extends Message["ask"]>(message: Extract<Message, { ask: Ask }>) => Promise<Answers[Ask]>;

/** The exercise understood the message and says why it cannot be answered. */
export class Refused extends Error {}

/** The answer of a transport, which carries either a document or `{"error": sentence}`. */
export function opened<Document>(answer: unknown): Document {
  if (typeof answer === "object" && answer !== null && "error" in answer && typeof answer.error === "string") {
    throw new Refused(answer.error);
  }
  return answer as Document; // typed by documents.py on the other side
}

export const MOST_SEEDS = 2 ** 31;

/** Numbers nobody has seen yet. */
export function anySeed(): number {
  return Math.floor(Math.random() * MOST_SEEDS);
}
