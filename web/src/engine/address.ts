// Where a number stands: stage.head.row.column, all counted from 0. A stage without heads has head 0.

export const STAGES = [
  "x",
  "w_q",
  "w_k",
  "w_v",
  "q",
  "k",
  "v",
  "scores",
  "scaled",
  "logits",
  "exps",
  "sums",
  "probs",
  "out",
  "concat",
  "w_o",
  "projected",
  "result",
] as const;

export type Stage = (typeof STAGES)[number];
export const PER_HEAD: ReadonlySet<Stage> = new Set<Stage>([
  "scores",
  "scaled",
  "logits",
  "exps",
  "sums",
  "probs",
  "out",
]);

export interface Address {
  readonly stage: Stage;
  readonly head: number;
  readonly row: number;
  readonly col: number;
}

export function at(stage: Stage, row: number, col: number, head = 0): Address {
  return { stage, head, row, col };
}

export function id(a: Address): string {
  return `${a.stage}.${a.head}.${a.row}.${a.col}`;
}

export function parseId(text: string): Address | null {
  const match = /^([a-z_]{1,9})\.(\d)\.(\d)\.(\d)$/.exec(text);
  const stage = STAGES.find((s) => s === match?.[1]);
  if (match === null || stage === undefined) return null;
  return { stage, head: Number(match[2]), row: Number(match[3]), col: Number(match[4]) };
}
