// Rows of one map, kept for a while: the pointer and the arrows come back to the same ones.
import type { RowDocument, Value } from "./documents";
import type { MapKey, Source } from "./source";

const FEW = 4096; // keys, up to which a row is worth asking for when the pointer merely rests on it

export class Rows {
  private readonly kept = new Map<string, Promise<RowDocument>>();
  private readonly capacity: number;
  /** Is a row quickly there? Else the pointer reads what the map shows. */
  readonly quick: boolean;

  constructor(
    private readonly source: Source,
    private readonly key: MapKey,
    keys: number,
    private readonly value: Value = "prob", // value_norm: with the lengths of what is brought
  ) {
    this.quick = keys <= FEW;
    this.capacity = Math.max(4, Math.min(64, Math.floor((64 * FEW) / Math.max(1, keys))));
  }

  /** `hidden`: keys that the row is to be without. */
  get(query: number, hidden: readonly number[] = []): Promise<RowDocument> {
    const name = [query, ...hidden].join();
    const held = this.kept.get(name);
    if (held !== undefined) return held;
    const row = this.source.row(this.key, query, hidden, undefined, this.value);
    this.kept.set(name, row);
    row.catch(() => this.kept.delete(name)); // ask again next time
    for (const oldest of this.kept.keys()) {
      if (this.kept.size <= this.capacity) break;
      this.kept.delete(oldest);
    }
    return row;
  }
}
