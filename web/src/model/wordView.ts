// Rows and columns as whole words see them: keys of a word add up, the last piece of a word is its query.
import type { ColumnDocument, RowDocument } from "../read/documents";
import { ranked, type Ranked } from "./readout";
import type { WholeWords } from "./wholeWords";

/** The keys of a row, most first; with words, one entry a word, under its last piece. */
export function rowEntries(row: RowDocument, whole: WholeWords | null): Ranked[] {
  if (whole === null) return ranked(row.probs, row.visible);
  const visible = new Array<boolean>(whole.count).fill(false);
  row.visible.forEach((seen, key) => {
    const word = whole.of[key];
    if (seen && word !== undefined) visible[word] = true;
  });
  return ranked(whole.sums(row.probs), visible).map(({ index, prob }) => ({ index: whole.span(index).last, prob }));
}

/** The queries of a column, most first; with words, the last pieces alone. `first` is the token of query 0. */
export function columnEntries(column: ColumnDocument, whole: WholeWords | null, first: number): Ranked[] {
  if (whole === null) return ranked(column.probs, column.visible);
  const speaks = (query: number): boolean => whole.around(query + first).last === query + first;
  return ranked(
    column.probs,
    column.visible.map((seen, query) => seen && speaks(query)),
  );
}

/** The columns of a word's pieces as one; it is called after the last. */
export function together(columns: readonly ColumnDocument[]): ColumnDocument {
  const [head] = columns;
  const last = columns.at(-1);
  if (head === undefined || last === undefined) throw new RangeError("a word has at least one piece");
  if (columns.length === 1) return head;
  const weighted = columns.flatMap((column) => (column.weighted === null ? [] : [column.weighted]));
  const add = (one: number | null, other: number | null): number | null => (one === null || other === null ? null : one + other);
  return {
    key: last.key,
    probs: head.probs.map((_, query) => columns.map(({ probs }) => probs[query] ?? null).reduce(add, 0)),
    visible: head.visible.map((_, query) => columns.some(({ visible }) => visible[query] === true)),
    weighted: weighted.length < columns.length ? null : head.probs.map((_, query) => weighted.map((lengths) => lengths[query] ?? null).reduce(add, 0)),
    received: columns.map(({ received }) => received ?? 0).reduce((sum, one) => sum + one, 0),
  };
}

/** How strongly each token of the text is lit by a row, 0…1: by its part of the largest. */
export function litByRow(row: RowDocument, whole: WholeWords | null): number[] {
  if (whole === null) return relative(row.probs);
  const words = relative(whole.sums(row.probs));
  return Array.from(row.probs, (_, token) => words[whole.of[token] ?? -1] ?? 0);
}

/** The same by a column: `first` tokens have no query. */
export function litByColumn(column: ColumnDocument, whole: WholeWords | null, first: number): number[] {
  const own = relative(column.probs);
  return Array.from({ length: first + own.length }, (_, token) => own[(whole?.around(token).last ?? token) - first] ?? 0);
}

function relative(probs: readonly (number | null)[]): number[] {
  let most = 1e-12;
  for (const prob of probs) if (prob !== null && prob > most) most = prob;
  return probs.map((prob) => (prob ?? 0) / most);
}
