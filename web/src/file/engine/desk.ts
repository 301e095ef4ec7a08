// What the file answers: the questions of `docs/contracts.md`, in strings, with the same documents and payloads.
import type {
  BaseDocument,
  CellDocument,
  ColumnDocument,
  HeadsDocument,
  Kind,
  Reduce,
  RowDocument,
  Value,
  Variant,
  WhichDocument,
  WhichLine,
} from "../../read/documents";
import { blockOf, make, type Base, type Squares } from "./base.ts";
import type { Jobs } from "./jobs.ts";
import type { Shown, Store } from "./store.ts";
import { fromBase, fromCells, payload, SIDE, type Address } from "./tile.ts";
import { working } from "./working.ts";
import { thumbsPayload, thumbZoom } from "./thumbs.ts";

export type Given = Readonly<Record<string, string>>;
export type Answer = { document: unknown } | { payload: ArrayBuffer; preview: boolean };

/** A question that has no answer here, in one sentence. */
export class Refusal extends Error {
  constructor(
    sentence: string,
    readonly status: 400 | 404 = 400,
  ) {
    super(sentence);
  }
}

const AT_ONCE = 4096; // tokens up to which a base is made without a preview

export class Desk {
  constructor(
    private readonly store: Store,
    private readonly jobs: Jobs,
  ) {}

  /** `wanted` says whether somebody still waits. */
  async answer(ask: string, given: Given, wanted: () => boolean): Promise<Answer> {
    const { document } = this.store;
    if (ask === "recording") return { document: document.recording };
    if (ask === "item") return { document: document.item };
    if (ask === "heads") return { document: { heads: document.measures, done: 1 } satisfies HeadsDocument };
    if (ask === "which") return { document: await this.which(given, wanted) };
    if (ask === "thumbs") return { payload: await this.thumbs(given, wanted), preview: false };
    const shown = await this.shown(given);
    if (ask === "map") return { document: shown.held.map };
    if (ask === "base") return { document: this.baseDocument(shown, valueOf(given, shown)) };
    if (ask === "tracks") return { payload: await this.tracks(shown, wanted), preview: false };
    if (ask === "tile") return this.tile(shown, given, wanted);
    if (ask === "row") return { document: this.row(shown, given) };
    if (ask === "column") return { document: await this.column(shown, given, wanted) };
    if (ask === "cell") return { document: this.cell(shown, given) };
    throw new Refusal(`There is no question ${ask.slice(0, 50)}.`, 404);
  }

  private async shown(given: Given): Promise<Shown> {
    if ((given["derived"] ?? "") !== "") throw new Refusal("This file answers about single heads only.");
    if (whole(given, "item", 0) !== 0) throw new Refusal(`item must be 0 in this file; got ${given["item"]}.`, 404);
    const [layer, head] = [whole(given, "layer"), whole(given, "head")];
    const held = this.store.find(layer, given["kind"] ?? "self", head);
    if (held === null) throw new Refusal(`This file does not hold head ${head} of layer ${layer}.`, 404);
    const variant = word(given, "variant", ["recorded", "unmasked", "causal"], "recorded") as Variant;
    if (!held.map.variants.includes(variant)) throw new Refusal(`variant must be ${held.map.variants.join(" or ")} here; got ${variant}.`, 404);
    return this.store.show(held, variant);
  }

  // ── bases and tiles

  /** Begin the base if need be; it is made while nobody asks. */
  private begin(shown: Shown, value: Value): { done: number; base: Promise<Base> } {
    const under = shown.making.get(value);
    if (under !== undefined) return under;
    const steps = make(shown.head, this.store.kernel, value === "value_norm", 1);
    const work = { done: 0, base: this.jobs.runBehind(steps, (done) => (work.done = done)).then((made) => this.finish(shown, value, made)) };
    work.base.catch(() => shown.making.delete(value));
    shown.making.set(value, work);
    return work;
  }

  private finish(shown: Shown, value: Value, made: { base: Base; received: Float32Array }): Base {
    shown.bases.set(value, made.base);
    shown.tracks ??= { entropy: Float32Array.from(shown.head.entropy), received: made.received };
    shown.making.delete(value);
    shown.previews.delete(value);
    return made.base;
  }

  private baseDocument(shown: Shown, value: Value): BaseDocument {
    if (shown.base(value) !== null) return { ready: true, done: 1 };
    return { ready: false, done: this.begin(shown, value).done };
  }

  private async base(shown: Shown, value: Value, wanted: () => boolean): Promise<{ base: Base; preview: boolean }> {
    const there = shown.base(value);
    if (there !== null) return { base: there, preview: false };
    const weighted = value === "value_norm";
    if (Math.max(shown.head.queries, shown.head.keys) <= AT_ONCE) {
      const made = await this.jobs.run(make(shown.head, this.store.kernel, weighted, 1), wanted);
      return { base: this.finish(shown, value, made), preview: false };
    }
    void this.begin(shown, value).base.catch(() => undefined);
    let preview = shown.previews.get(value);
    if (preview === undefined) {
      preview = this.jobs.run(make(shown.head, this.store.kernel, weighted, 16), () => true).then(({ base }) => base);
      preview.catch(() => shown.previews.delete(value));
      shown.previews.set(value, preview);
    }
    const rough = await preview;
    const now = shown.base(value);
    return now === null ? { base: rough, preview: true } : { base: now, preview: false };
  }

  private async tile(shown: Shown, given: Given, wanted: () => boolean): Promise<Answer> {
    const value = valueOf(given, shown);
    const reduce = word(given, "reduce", ["max", "mean", "share"], "max") as Reduce;
    const { squares, preview } = await this.squares(shown, value, place(given, shown), wanted);
    return { payload: payload(squares, reduce), preview };
  }

  private async squares(shown: Shown, value: Value, at: Address, wanted: () => boolean): Promise<{ squares: Squares; preview: boolean }> {
    if (2 ** at.zoom < blockOf(shown.head.queries, shown.head.keys)) {
      const steps = fromCells(shown.head, this.store.kernel, value === "value_norm", at);
      return { squares: await this.jobs.run(steps, wanted), preview: false };
    }
    const { base, preview } = await this.base(shown, value, wanted);
    return { squares: fromBase(base, at), preview };
  }

  private async tracks(shown: Shown, wanted: () => boolean): Promise<ArrayBuffer> {
    if (shown.tracks === null) {
      const small = Math.max(shown.head.queries, shown.head.keys) <= AT_ONCE;
      await (small ? this.base(shown, "prob", wanted) : this.begin(shown, "prob").base);
    }
    const { entropy, received } = shown.tracks ?? { entropy: new Float32Array(0), received: new Float32Array(0) };
    const buffer = new ArrayBuffer((entropy.length + received.length) * 4);
    const view = new DataView(buffer);
    entropy.forEach((number, i) => view.setFloat32(i * 4, number, true));
    received.forEach((number, i) => view.setFloat32((entropy.length + i) * 4, number, true));
    return buffer;
  }

  private async thumbs(given: Given, wanted: () => boolean): Promise<ArrayBuffer> {
    const [layer, kind] = [whole(given, "layer"), given["kind"] ?? "self"];
    const variant = word(given, "variant", ["recorded", "unmasked", "causal"], "recorded") as Variant;
    const reduce = word(given, "reduce", ["max", "mean", "share"], "max") as Reduce;
    const heads = this.store.document.heads.filter((one) => one.layer === layer && one.kind === kind);
    if (heads.length === 0) throw new Refusal(`This file does not hold layer ${layer}.`, 404);
    const pictures: Squares[] = [];
    for (const held of heads) {
      const shown = await this.store.show(held, variant);
      const at = { zoom: thumbZoom(shown.head.queries, shown.head.keys), row: 0, column: 0 };
      pictures.push((await this.squares(shown, valueOf(given, shown), at, wanted)).squares);
    }
    return thumbsPayload(pictures, reduce);
  }

  // ── rows, columns, cells

  private row(shown: Shown, given: Given): RowDocument {
    const query = below(given, "query", shown.head.queries, "queries");
    const hidden = (given["hidden"] ?? "").split(",").filter((part) => part !== "");
    for (const part of hidden) {
      if (!/^\d{1,9}$/.test(part) || Number(part) >= shown.head.keys) throw new Refusal(`hidden must be keys below ${shown.head.keys}, such as 5,7; got ${part.slice(0, 20)}.`);
    }
    const { probs, visible, lse, sink } = shown.head.row(query, new Set(hidden.map(Number)));
    let entropy = 0;
    for (const p of probs) if (p !== 0) entropy -= p * Math.log(p);
    return { query, probs: Array.from(probs, finite), visible: Array.from(visible, Boolean), entropy: finite(entropy + 0), lse: finite(lse), sink: finite(sink), weighted: weighted(given, shown, probs, visible) };
  }

  private async column(shown: Shown, given: Given, wanted: () => boolean): Promise<ColumnDocument> {
    const key = below(given, "key", shown.head.keys, "keys");
    await this.jobs.run(shown.head.allLse(), wanted);
    const { probs, visible, received } = column(shown, key);
    return { key, probs: probs.map(finite), visible, received: finite(received), weighted: weighted(given, shown, probs, visible, key) };
  }

  private cell(shown: Shown, given: Given): CellDocument {
    const [query, key] = [below(given, "query", shown.head.queries, "queries"), below(given, "key", shown.head.keys, "keys")];
    const lang = word(given, "lang", ["cs", "en"], "en") as "cs" | "en";
    const digits = Math.min(12, Math.max(1, whole(given, "digits", 3)));
    const row = shown.head.row(query);
    const visible = row.visible[key] === 1;
    const prob = visible ? row.probs[key]! : 0;
    const tile = Math.fround(shown.head.cell(query, key));
    const hasLogits = shown.head.arrays.probs === null;
    return {
      query,
      key,
      visible,
      prob: finite(prob),
      tile: finite(tile),
      difference: finite(Math.abs(tile - prob)),
      logit: visible && hasLogits ? finite(shown.head.logit(query, key)) : null,
      lse: finite(row.lse),
      norm: shown.head.arrays.vNorm === null ? null : finite(shown.head.arrays.vNorm[key]!),
      html: working(this.store.document, shown, { query, key, row, lang, digits }),
    };
  }

  // ── all heads

  private async which(given: Given, wanted: () => boolean): Promise<WhichDocument> {
    const variant = word(given, "variant", ["recorded", "unmasked", "causal"], "recorded") as Variant;
    const [query, key] = [given["query"], given["key"]].map((text) => text !== undefined && text !== "");
    if (!query && !key) throw new Refusal("which needs query=, key= or both.");
    const lines: WhichLine[] = [];
    for (const held of this.store.document.heads) {
      if (!held.map.variants.includes(variant)) continue;
      const shown = await this.store.show(held, variant);
      const { head, layer, kind } = held;
      const at = { query: query ? below(given, "query", shown.head.queries, "queries") : null, key: key ? below(given, "key", shown.head.keys, "keys") : null };
      if (at.query === null && variant !== "recorded") await this.jobs.run(shown.head.allLse(), wanted);
      lines.push({ layer, kind: kind as Kind, head, ...givenTo(shown, at.query, at.key) });
      await this.jobs.run(pause(), wanted);
    }
    lines.sort((a, b) => (b.prob ?? -1) - (a.prob ?? -1));
    return { query: query ? whole(given, "query") : null, key: key ? whole(given, "key") : null, heads: lines };
  }
}

function* pause(): Generator<number, void, void> {
  yield 1;
}

/** What a head gives to a cell; the largest of a row; what a column receives. */
function givenTo(shown: Shown, query: number | null, key: number | null): { prob: number | null; at: number | null } {
  const { head } = shown;
  if (query !== null && key !== null) return { prob: finite(head.cell(query, key)), at: null };
  if (query !== null) {
    const { probs } = head.row(query);
    const at = largest(probs);
    return { prob: finite(probs[at] ?? 0), at };
  }
  const { probs, received } = column(shown, key ?? 0);
  return { prob: finite(received), at: largest(probs) };
}

function column(shown: Shown, key: number): { probs: number[]; visible: boolean[]; received: number } {
  const { head } = shown;
  const visible = Array.from({ length: head.queries }, (_, query) => head.sight.sees(query, key));
  const probs = visible.map((seen, query) => (seen ? head.cell(query, key) : 0));
  const seeing = visible.filter(Boolean).length;
  return { probs, visible, received: seeing === 0 ? NaN : probs.reduce((sum, p) => sum + p, 0) / seeing };
}

function largest(numbers: ArrayLike<number>): number {
  let at = 0;
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! > numbers[at]!) at = i;
  return at;
}

// ── what was asked

export const finite = (number: number): number | null => (Number.isFinite(number) ? number : null);

function whole(given: Given, name: string, usual?: number): number {
  const text = given[name];
  if (text === undefined || text === "") {
    if (usual === undefined) throw new Refusal(`${name} is missing; give ${name}=N.`);
    return usual;
  }
  if (!/^\d{1,9}$/.test(text)) throw new Refusal(`${name} must be a whole number from 0 up; got ${text.slice(0, 50)}.`);
  return Number(text);
}

function below(given: Given, name: string, stop: number, what: string): number {
  const number = whole(given, name);
  if (number >= stop) throw new Refusal(`${name} must be below ${stop} (${what} of this map); got ${number}.`, 404);
  return number;
}

function word(given: Given, name: string, words: readonly string[], usual: string): string {
  const text = given[name] ?? usual;
  if (!words.includes(text)) throw new Refusal(`${name} must be ${words.join(" or ")}; got ${text.slice(0, 50)}.`);
  return text;
}

function valueOf(given: Given, shown: Shown): Value {
  const value = word(given, "value", ["prob", "value_norm"], "prob") as Value;
  if (!shown.held.map.values.includes(value)) throw new Refusal("value must be prob: this head has no v_norm (no W_O was found).", 404);
  return value;
}

/** What the keys bring, weight times length; a hidden one brings nothing. `key`: of a column, else each has its own. */
function weighted(given: Given, shown: Shown, probs: ArrayLike<number>, visible: ArrayLike<number | boolean>, key?: number): (number | null)[] | null {
  const lengths = shown.head.arrays.vNorm;
  if (valueOf(given, shown) === "prob" || lengths === null) return null;
  return Array.from(probs, (prob, at) => (visible[at] ? finite(prob * lengths[key ?? at]!) : 0));
}

function place(given: Given, shown: Shown): Address {
  const zoom = below(given, "zoom", shown.held.map.zooms, "zooms");
  const side = SIDE * 2 ** zoom;
  const count = (length: number): number => Math.max(1, Math.ceil(length / side));
  const row = below(given, "row", count(shown.head.queries), `tiles at zoom ${zoom}`);
  return { zoom, row, column: below(given, "column", count(shown.head.keys), `tiles at zoom ${zoom}`) };
}
