// Rows of one map, kept for a while: the pointer and the arrows come back to the same ones.
import type { RowDocument } from "./documents";
import type { MapKey, Source } from "./source";

export class Rows {
  private readonly kept = new Map<number, Promise<RowDocument>>();

  constructor(
    private readonly source: Source,
    private readonly key: MapKey,
    private readonly capacity = 64,
  ) {}

  get(query: number): Promise<RowDocument> {
    const held = this.kept.get(query);
    if (held !== undefined) return held;
    const row = this.source.row(this.key, query, []);
    this.kept.set(query, row);
    row.catch(() => this.kept.delete(query)); // ask again next time
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.capacity) break;
      this.kept.delete(oldest);
    }
    return row;
  }
}
