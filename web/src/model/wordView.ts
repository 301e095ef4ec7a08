// Rows and columns as whole words see them: keys of a word add up, the last piece of a word is its query.
import type { ColumnDocument, RowDocument } from "../read/documents";
import { ranked, type Ranked } from "./readout";
import type { WholeWords } from "./wholeWords";

/** The keys of a row, most first; with words, one entry a word, under its last piece. */
export function rowEntries(row: RowDocument, whole: WholeWords | null): Ranked[] {
  const numbers = numbersOf(row);
  if (whole === null) return ranked(numbers, row.visible);
  const visible = new Array<boolean>(whole.count).fill(false);
  row.visible.forEach((seen, key) => {
    const word = whole.of[key];
    if (seen && word !== undefined) visible[word] = true;
  });
  return ranked(whole.sums(numbers), visible).map(({ index, prob }) => ({ index: whole.span(index).last, prob }));
}

/** The queries of a column, most first; with words, the last pieces alone. `first` is the token of query 0. */
export function columnEntries(column: ColumnDocument, whole: WholeWords | null, first: number): Ranked[] {
  const numbers = numbersOf(column);
  if (whole === null) return ranked(numbers, column.visible);
  const speaks = (query: number): boolean => whole.around(query + first).last === query + first;
  return ranked(
    numbers,
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
  const numbers = numbersOf(row);
  if (whole === null) return relative(numbers);
  const words = relative(whole.sums(numbers));
  return Array.from(numbers, (_, token) => words[whole.of[token] ?? -1] ?? 0);
}

/** The same by a column: `first` tokens have no query. */
export function litByColumn(column: ColumnDocument, whole: WholeWords | null, first: number): number[] {
  const own = relative(numbersOf(column));
  return Array.from({ length: first + own.length }, (_, token) => own[(whole?.around(token).last ?? token) - first] ?? 0);
}

/** Lengths of what is brought, where they were asked for, else parts of the attention. */
const numbersOf = ({ probs, weighted }: RowDocument | ColumnDocument): readonly (number | null)[] => weighted ?? probs;

/** The size of each as a part of the largest; differences count by their size. */
function relative(numbers: readonly (number | null)[]): number[] {
  let most = 1e-12;
  for (const number of numbers) if (number !== null && Math.abs(number) > most) most = Math.abs(number);
  return numbers.map((number) => Math.abs(number ?? 0) / most);
}

/** Of differences the largest is the one that is farthest from 0. */
export function bySize(entries: readonly Ranked[]): Ranked[] {
  const size = ({ prob }: Ranked): number => (Number.isNaN(prob) ? Infinity : Math.abs(prob));
  return [...entries].sort((a, b) => (size(a) === size(b) ? a.index - b.index : size(b) - size(a)));
}
