// Where every head of every layer looks, row by row; a row has a number for each key up to its own.
export type Row = ArrayLike<number>;

export class Attention {
  private constructor(
    readonly layers: number,
    readonly heads: number,
    readonly tokens: number,
    private readonly rows: readonly (readonly Row[])[], // [layer · heads + head][query]
  ) {}

  /** From (layers, heads, tokens, tokens) float32, little-endian. */
  static from(bytes: ArrayBuffer, layers: number, heads: number, tokens: number): Attention {
    const all = new Float32Array(bytes);
    if (all.length !== layers * heads * tokens * tokens) throw new Error(`attention of ${all.length} numbers`);
    const rows = Array.from({ length: layers * heads }, (_, map) =>
      Array.from({ length: tokens }, (_, query) => {
        const start = (map * tokens + query) * tokens;
        return all.subarray(start, start + query + 1);
      }),
    );
    return new Attention(layers, heads, tokens, rows);
  }

  /** The same with one more query: rows[layer][head]. */
  longer(rows: readonly (readonly Row[])[]): Attention {
    const added = rows.flat();
    const all = this.rows.map((own, map) => [...own, added[map] ?? []]);
    return new Attention(this.layers, this.heads, this.tokens + 1, all);
  }

  row(layer: number, head: number, query: number): Row {
    return this.rows[layer * this.heads + head]?.[query] ?? [];
  }
}
