// What a viewer asks its source: which recording, text and map are meant by the address, and what is locked in it.
import { Asked } from "../model/asked.svelte";
import type { MapAddress } from "../model/mapAddress";
import { inside, resolve, type Spot } from "../model/mapMoves";
import { wholeWords } from "../model/wholeWords";
import { together } from "../model/wordView";
import type { CellDocument, ColumnDocument, MapDocument, RecordingDocument, RowDocument, Value } from "../read/documents";
import type { Item } from "../read/item";
import { Rows } from "../read/rows";
import { nameOfMap, type MapKey, type Source, type Tracks } from "../read/source";
import { tileCache } from "../read/tileCache";
import { nameOf } from "../read/tiles";
import { zoomsOf } from "../scales/tileGrid";
import { language } from "../words/language.svelte";
import { cacheName } from "./mapTiles.svelte";

export class Questions {
  readonly recording = new Asked<RecordingDocument>();
  readonly itemAsked = new Asked<Item>();
  readonly map = new Asked<MapDocument>();
  readonly tracks = new Asked<Tracks>();
  readonly row = new Asked<RowDocument>();
  readonly column = new Asked<ColumnDocument>();
  readonly cell = new Asked<CellDocument>();
  attempt = $state(0); // one more: everything is asked anew
  digits = $state(4); // of the working of a cell

  readonly resolved = $derived.by(() => (this.recording.value === null ? null : resolve(this.recording.value, this.address())));
  /** The sequence, once its tokens are here; the map does not wait for them. */
  readonly item = $derived.by((): Item | null => (this.itemAsked.of === this.itemName ? this.itemAsked.value : null));
  readonly mapKey = $derived.by((): MapKey | null => {
    if (this.resolved === null) return null;
    const { item, layer, head } = this.resolved.shown;
    const { variant, derived } = this.address();
    return { item, layer: layer.layer, kind: layer.kind, head, variant, derived };
  });
  readonly mapName = $derived.by(() => (this.mapKey === null ? "" : `${this.source().name} ${nameOfMap(this.mapKey)} ${this.attempt}`));
  // a map of another item has other sizes: it must not be drawn with the old ones
  readonly drawn = $derived.by(() => {
    if (this.mapKey === null || this.map.value === null) return null;
    return sameItem(this.map.of, this.mapName) ? this.map.value : null;
  });
  readonly fits = $derived.by(() => this.drawn === null || inside(this.address(), this.drawn));
  readonly lock = $derived.by((): Spot => (this.fits ? { query: this.address().query, key: this.address().key } : { query: null, key: null }));
  readonly whole = $derived.by(() => (this.address().wholeWords && this.item !== null ? wholeWords(this.item) : null));
  readonly rows = $derived.by(() => (this.mapKey === null || this.drawn === null ? null : new Rows(this.source(), this.mapKey, this.drawn.kv_len, this.value)));
  /** What is shown, as far as the map has it: where no W_O was found, there are weights alone. */
  readonly value = $derived.by((): Value => (this.drawn?.values.includes(this.address().value) === true ? this.address().value : "prob"));
  private readonly itemName = $derived.by(() => (this.resolved === null ? "" : `${this.source().name} ${this.attempt} ${this.resolved.shown.item}`));

  constructor(
    private readonly source: () => Source,
    private readonly address: () => MapAddress,
  ) {
    $effect(() => this.recording.ask(`${source().name} ${this.attempt}`, (signal) => source().recording(signal)));
    $effect(() => this.askMap());
    $effect(() => {
      const at = this.resolved?.shown.item;
      if (at !== undefined) this.itemAsked.ask(this.itemName, (signal) => source().item(at, signal));
    });
    $effect(() => this.askRow());
    $effect(() => this.askColumn());
    $effect(() => this.askCell());
  }

  private askMap(): void {
    const [key, name] = [this.mapKey, this.mapName];
    if (key === null) return;
    const source = this.source();
    if (this.map.asking !== name) this.expectPicture(key, name);
    this.map.ask(name, (signal) => source.map(key, signal));
    this.tracks.ask(name, (signal) => source.tracks(key, signal));
  }

  /** The first picture does not wait for the map's sizes: as many tokens as the text has, there are at most. */
  private expectPicture(key: MapKey, name: string): void {
    const { reduce, value } = this.address();
    const tokens = this.recording.value?.items[key.item]?.tokens ?? 0;
    if (key.derived !== "" || key.kind !== "self" || value !== "prob" || tokens === 0) return;
    const place = { zoom: zoomsOf(tokens) - 1, row: 0, column: 0 };
    const kept = `${cacheName({ name, value, reduce })}|${nameOf(place)}`;
    this.early?.abort(); // of a map that one has left by now
    this.early = new AbortController();
    if (tileCache.get(kept) === undefined) tileCache.expect(kept, this.source().tile(key, value, reduce, place, this.early.signal));
  }

  private early: AbortController | null = null;

  private askRow(): void {
    const [rows, { query }] = [this.rows, this.lock];
    if (rows === null || query === null) return this.row.clear();
    const hidden = this.address().hidden;
    this.row.ask([this.mapName, this.value, query, ...hidden].join(" "), () => rows.get(query, hidden));
  }

  private askColumn(): void {
    const [key, { query, key: at }] = [this.mapKey, this.lock];
    if (key === null || this.drawn === null || at === null || query !== null) return this.column.clear();
    const { first, last } = this.whole?.around(at) ?? { first: at, last: at };
    const pieces = Array.from({ length: last - first + 1 }, (_, i) => first + i);
    const [source, value] = [this.source(), this.value];
    this.column.ask(`${this.mapName} ${value} ${first} ${last}`, async (signal) =>
      together(await Promise.all(pieces.map((one) => source.column(key, one, signal, value)))),
    );
  }

  private askCell(): void {
    const [key, { query, key: at }] = [this.mapKey, this.lock];
    if (key === null || this.drawn === null || at === null || query === null) return this.cell.clear();
    const [lang, many, source] = [language.code, this.digits, this.source()];
    this.cell.ask([this.mapName, query, at, lang, many].join(" "), (signal) => source.cell(key, query, at, lang, many, signal));
  }
}

function sameItem(one: string, other: string): boolean {
  const of = (name: string): string => name.split(" ").slice(0, 2).join(" ");
  return of(one) === of(other);
}
