// What is sought in the text, where it was found, and at which of the places one is.
import { finder, nextHit, type Hit } from "../model/find";
import type { Item } from "../read/item";

export class Finding {
  readonly hits = $derived.by((): readonly Hit[] => {
    const item = this.item();
    return item === null || this.sought() === "" ? [] : finder(item).find(this.sought());
  });
  private at = $state.raw<{ in: readonly Hit[]; hit: number } | null>(null);
  /** Which of the hits one is at; null: at none yet. */
  readonly now = $derived(this.at?.in === this.hits ? this.at.hit : null);

  constructor(
    private readonly item: () => Item | null,
    private readonly sought: () => string,
  ) {}

  /** Go to the next place, or the one before; the first time to the first from a token on. */
  go(by: 1 | -1, near: number): Hit | null {
    const hit = nextHit(this.hits, this.now, by, near);
    if (hit === null) return null;
    this.at = { in: this.hits, hit };
    return this.hits[hit] ?? null;
  }
}
