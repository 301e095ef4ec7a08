// Which tiles a window needs. Tile (row, column) at zoom z covers 256·2^z queries and keys; a pixel is 2^z × 2^z cells.

export const TILE = 256;

/** A window on the matrix: `cell` CSS pixels a cell; the matrix' corner lies at (x, y); `width` × `height` pixels. */
export interface Window {
  cell: number;
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Place {
  zoom: number;
  row: number;
  column: number;
}

/** The finest zoom whose pixels are not smaller than a pixel of the screen. */
export function zoomFor(cell: number, pixelRatio: number, zooms: number): number {
  const device = cell * pixelRatio;
  const wanted = Math.ceil(-Math.log2(device) - 1e-9);
  return Math.min(zooms - 1, Math.max(0, wanted));
}

/** Tiles of one zoom that the window touches, nearest to its middle first. */
export function tilesIn(window: Window, zoom: number, queries: number, keys: number): Place[] {
  const side = TILE * 2 ** zoom * window.cell;
  const span = (offset: number, extent: number, length: number): [number, number] => [
    Math.max(0, Math.floor(-offset / side)),
    Math.min(Math.ceil(length / (TILE * 2 ** zoom)), Math.ceil((extent - offset) / side)) - 1,
  ];
  const [top, bottom] = span(window.y, window.height, queries);
  const [left, right] = span(window.x, window.width, keys);
  const places: { place: Place; far: number }[] = [];
  for (let row = top; row <= bottom; row++) {
    for (let column = left; column <= right; column++) {
      const dx = window.x + (column + 0.5) * side - window.width / 2;
      const dy = window.y + (row + 0.5) * side - window.height / 2;
      places.push({ place: { zoom, row, column }, far: dx * dx + dy * dy });
    }
  }
  return places.sort((a, b) => a.far - b.far).map(({ place }) => place);
}

/** Where a cell lies: its tile and the index within the tile's 65,536 numbers. */
export function locate(query: number, key: number, zoom: number): Place & { index: number } {
  const row = Math.floor(query / 2 ** zoom);
  const column = Math.floor(key / 2 ** zoom);
  return {
    zoom,
    row: Math.floor(row / TILE),
    column: Math.floor(column / TILE),
    index: (row % TILE) * TILE + (column % TILE),
  };
}

/** The view that shows the whole matrix, as large as it fits, in the upper left corner. */
export function home(width: number, height: number, queries: number, keys: number, largest: number): Window {
  const cell = Math.min(largest, width / Math.max(1, keys), height / Math.max(1, queries));
  return { cell: Math.max(cell, 1e-6), x: 0, y: 0, width, height };
}

/** How many zooms a map has: the last is the first with a single tile. */
export function zoomsOf(longest: number): number {
  let zooms = 1;
  while (TILE * 2 ** (zooms - 1) < longest) zooms += 1;
  return zooms;
}
