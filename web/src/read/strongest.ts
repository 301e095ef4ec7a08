// Where a pixel stands for many cells, the strongest of them: it is the one that was seen.
import { locate, type Place } from "../scales/tileGrid";
import { VALUE, type Tile } from "./tile";

export interface Cell {
  query: number;
  key: number;
}

/** The cell with the largest value in the block of `side` × `side` cells around `cell`; `tileAt` gives tiles of zoom 0. */
export async function strongest(
  cell: Cell,
  side: number,
  size: { queries: number; keys: number },
  tileAt: (place: Place) => Promise<Tile>,
): Promise<Cell> {
  if (side === 1) return cell;
  const [top, left] = [Math.floor(cell.query / side) * side, Math.floor(cell.key / side) * side];
  // a block never crosses a tile's edge: both are powers of two
  const { row, column } = locate(top, left, 0);
  const tile = await tileAt({ zoom: 0, row, column });
  let best = { ...cell, value: -1 };
  for (let query = top; query < Math.min(size.queries, top + side); query++) {
    for (let key = left; key < Math.min(size.keys, left + side); key++) {
      const { index } = locate(query, key, 0);
      const value = tile.states[index] === VALUE ? (tile.values[index] ?? 0) : -1;
      if (value > best.value) best = { query, key, value };
    }
  }
  return { query: best.query, key: best.key };
}
