// What the file answers: the questions of `docs/contracts.md`, in strings, with the same documents and payloads.
import type { HeadsDocument, Variant } from "../../read/documents";
import type { HeldHead } from "../held";
import { cellDocument, columnDocument, rowDocument } from "./answers.ts";
import { kindOf, reduceOf, Refusal, tileOf, valueOf, variantOf, whole, type Given } from "./asked.ts";
import type { Squares } from "./base.ts";
import { Bases, tracksPayload, type Wanted } from "./bases.ts";
import { Combined } from "./combined.ts";
import { answerCombined } from "./combinedDesk.ts";
import type { Jobs } from "./jobs.ts";
import type { Shown, Store } from "./store.ts";
import { thumbsPayload, thumbZoom } from "./thumbs.ts";
import { payload } from "./tile.ts";
import { which } from "./which.ts";

export type Answer = { document: unknown } | { payload: ArrayBuffer; preview: boolean };

export class Desk {
  private readonly bases: Bases;

  constructor(
    private readonly store: Store,
    jobs: Jobs,
  ) {
    this.bases = new Bases(store.kernel, jobs);
  }

  /** `wanted` says whether somebody still waits. */
  async answer(ask: string, given: Given, wanted: Wanted): Promise<Answer> {
    const { document } = this.store;
    if (ask === "recording") return { document: document.recording };
    if (whole(given, "item", 0) !== 0) throw new Refusal(`item must be 0 in this file; got ${given["item"]}.`, 404);
    if (ask === "item") return { document: document.item };
    if (ask === "heads") return { document: { heads: document.measures, done: 1 } satisfies HeadsDocument };
    if (ask === "which") return { document: await which(this.store, this.bases, given, wanted) };
    if (ask === "thumbs") return this.thumbs(given, wanted);
    const derived = given["derived"] ?? "";
    if (derived !== "") return answerCombined(await this.combined(derived, given), this.bases, ask, given, wanted);
    return this.about(await this.store.show(this.named(given), variantOf(given)), ask, given, wanted);
  }

  private async about(shown: Shown, ask: string, given: Given, wanted: Wanted): Promise<Answer> {
    const { map } = shown.held;
    if (ask === "map") return { document: map };
    if (ask === "base") return { document: this.bases.document(shown, valueOf(given, map.values)) };
    if (ask === "tracks") return { payload: tracksPayload(await this.bases.tracks(shown, wanted)), preview: false };
    if (ask === "tile") {
      const { squares, preview } = await this.bases.squares(shown, valueOf(given, map.values), tileOf(given, map), wanted);
      return { payload: payload(squares, reduceOf(given)), preview };
    }
    if (ask === "row") return { document: rowDocument(shown, given) };
    if (ask === "cell") return { document: cellDocument(this.store.document, shown, given) };
    if (ask !== "column") throw new Refusal(`There is no question ${ask.slice(0, 50)}.`, 404);
    await this.bases.jobs.run(shown.head.allLse(), wanted);
    return { document: columnDocument(shown, given) };
  }

  /** The head asked about. */
  private named(given: Given): HeldHead {
    const held = this.find(whole(given, "layer"), kindOf(given), whole(given, "head"));
    const variant: Variant = variantOf(given);
    if (held.map.variants.includes(variant)) return held;
    throw new Refusal(`variant must be ${held.map.variants.join(" or ")} here; got ${variant}.`, 404);
  }

  private find(layer: number, kind: string, head: number): HeldHead {
    const held = this.store.find(layer, kind, head);
    if (held === null) throw new Refusal(`This file does not hold head ${head} of layer ${layer}.`, 404);
    return held;
  }

  /** A map made of heads: mean:3.1,3.2 · max:3.1,3.2 (layer.head) · minus:12.5 · minus:unmasked. */
  private async combined(text: string, given: Given): Promise<Combined> {
    const variant = variantOf(given);
    const [how, rest = ""] = text.split(":", 2);
    if (text === "minus:unmasked") {
      if (variant !== "recorded") throw new Refusal(`variant must be recorded for a difference from the unmasked map; got ${variant}.`);
      const held = this.named(given);
      return new Combined("difference", [await this.store.show(held, "recorded"), await this.store.show(held, "unmasked")]);
    }
    const places = rest.split(",").map((place) => /^(\d{1,6})\.(\d{1,6})$/.exec(place));
    if (rest.includes("@")) throw new Refusal("derived must name heads of this file, which knows no other recording.", 404);
    if (!["mean", "max", "minus"].includes(how ?? "") || places.includes(null) || (how === "minus" && places.length > 1)) {
      throw new Refusal(`derived must be mean:L.H,L.H or max:L.H,L.H (layer.head), minus:L.H or minus:unmasked; got ${text.slice(0, 50)}.`);
    }
    const heads = places.map((place) => this.find(Number(place?.[1]), kindOf(given), Number(place?.[2])));
    if (how === "minus") heads.unshift(this.named(given));
    const shown: Shown[] = [];
    for (const held of heads) shown.push(await this.store.show(held, variant));
    return new Combined(how === "minus" ? "difference" : how === "max" ? "max" : "mean", shown);
  }

  private async thumbs(given: Given, wanted: Wanted): Promise<Answer> {
    const [layer, kind] = [whole(given, "layer"), kindOf(given)];
    const heads = this.store.document.heads.filter((one) => one.layer === layer && one.kind === kind);
    if (heads.length === 0) throw new Refusal(`This file does not hold layer ${layer}.`, 404);
    const found: { squares: Squares; preview: boolean }[] = [];
    for (const held of heads) {
      const shown = await this.store.show(held, variantOf(given));
      const at = { zoom: thumbZoom(held.map.q_len, held.map.kv_len), row: 0, column: 0 };
      found.push(await this.bases.squares(shown, valueOf(given, held.map.values), at, wanted));
    }
    const pictures = found.map(({ squares }) => squares);
    return { payload: thumbsPayload(pictures, reduceOf(given)), preview: found.some(({ preview }) => preview) };
  }
}
