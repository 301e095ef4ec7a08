// Heads in order: by layer, or by a number that each of them has.
import type { Order, Shows } from "../model/headNumbers";
import type { HeadLine, Kind, LayerDocument, WhichDocument } from "../read/documents";

/** A head in the grid. value: the number asked for, null while it is not known. */
export interface Entry {
  kind: Kind;
  layer: number;
  head: number;
  value: number | null;
}

export const idOf = ({ kind, layer, head }: Pick<Entry, "kind" | "layer" | "head">): string => `${kind} ${layer}.${head}`;

/** Every recorded head with the number asked for. */
export function entries(
  layers: readonly LayerDocument[],
  shows: Shows,
  measures: readonly HeadLine[],
  which: WhichDocument | null,
): Entry[] {
  const known =
    shows === "locked"
      ? new Map((which?.heads ?? []).map((line) => [idOf(line), line.prob]))
      : new Map(measures.map((line) => [idOf(line), line[shows]]));
  return layers.flatMap(({ kind, layer, heads }) =>
    heads.map((head) => ({ kind, layer, head, value: known.get(idOf({ kind, layer, head })) ?? null })),
  );
}

/** In the order asked for. What is not known stands last; what is equal stands by layer. */
export function inOrder(list: readonly Entry[], order: Order): Entry[] {
  const place = (one: Entry): readonly number[] => [one.kind === "self" ? 0 : 1, one.layer, one.head];
  const byLayer = (a: Entry, b: Entry): number => {
    const [left, right] = [place(a), place(b)];
    return left.map((part, i) => part - (right[i] ?? 0)).find((difference) => difference !== 0) ?? 0;
  };
  const up = order === "least" ? 1 : -1;
  return [...list].sort((a, b) => {
    if (order === "layer" || a.value === b.value) return byLayer(a, b);
    if (a.value === null || b.value === null) return a.value === null ? 1 : -1;
    return up * (a.value - b.value);
  });
}

export interface Row {
  name: string | null;
  cells: (Entry | null)[]; // null: no such head was recorded
}

/** The grid as it stands on the page. columns: their names, null where the heads run on line by line. */
export interface Layout {
  columns: string[] | null;
  rows: Row[];
}

const named = ({ kind, layer }: Pick<Entry, "kind" | "layer">): string => (kind === "self" ? String(layer) : `${layer}×`);

/** Layers × heads: layers go down, or, where there is room for as many, from left to right as the text flows through them. */
export function byLayer(list: readonly Entry[], across: boolean): Layout {
  const layers = [...new Map(inOrder(list, "layer").map((one) => [named(one), one])).keys()];
  const heads = [...new Set(list.map((one) => one.head))].sort((a, b) => a - b);
  const found = new Map(list.map((one) => [`${named(one)} ${one.head}`, one]));
  const at = (layer: string, head: number): Entry | null => found.get(`${layer} ${head}`) ?? null;
  if (across) {
    return { columns: layers, rows: heads.map((head) => ({ name: String(head), cells: layers.map((layer) => at(layer, head)) })) };
  }
  return { columns: heads.map(String), rows: layers.map((layer) => ({ name: layer, cells: heads.map((head) => at(layer, head)) })) };
}

/** One after another, `columns` in a line. */
export function running(list: readonly Entry[], columns: number): Layout {
  const width = Math.max(1, columns);
  const rows = Array.from({ length: Math.ceil(list.length / width) }, (_, i) => ({
    name: null,
    cells: list.slice(i * width, (i + 1) * width),
  }));
  return { columns: null, rows };
}

export interface Place {
  row: number;
  column: number;
}

const STEPS: Record<string, readonly [row: number, column: number]> = {
  ArrowUp: [-1, 0],
  ArrowDown: [1, 0],
  ArrowLeft: [0, -1],
  ArrowRight: [0, 1],
};

/** Where a key leads within the grid: arrows, Home and End of the line, with Ctrl of the whole. null: not a key of the grid. */
export function moved(layout: Layout, from: Place, key: string, ctrl = false): Place | null {
  const places = layout.rows.flatMap(({ cells }, row) => cells.flatMap((cell, column) => (cell === null ? [] : [{ row, column }])));
  const line = places.filter(({ row }) => row === from.row);
  if (key === "Home") return (ctrl ? places : line)[0] ?? from;
  if (key === "End") return (ctrl ? places : line).at(-1) ?? from;
  const step = STEPS[key];
  if (step === undefined) return null;
  const to = { ...from };
  do {
    to.row += step[0];
    to.column += step[1];
    const cells = layout.rows[to.row]?.cells;
    if (cells === undefined || to.column < 0 || to.column >= cells.length) return from;
  } while (layout.rows[to.row]?.cells[to.column] === null);
  return to;
}
