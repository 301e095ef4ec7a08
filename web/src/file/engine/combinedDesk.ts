// What is answered about a map made of heads.
import type { BaseDocument, CellDocument, ColumnDocument, RowDocument, Value } from "../../read/documents";
import { column, meanOf } from "./answers.ts";
import { below, finite, hiddenOf, reduceOf, Refusal, tileOf, valueOf, type Given } from "./asked.ts";
import { tracksPayload, type Bases, type Wanted } from "./bases.ts";
import type { Combined } from "./combined.ts";
import type { Answer } from "./desk.ts";
import type { Tracks } from "./store.ts";
import { payload } from "./tile.ts";

const NAMES = { mean: "a mean over heads", max: "a max over heads", difference: "a difference" };

export async function answerCombined(made: Combined, bases: Bases, ask: string, given: Given, wanted: Wanted): Promise<Answer> {
  const value = (): Value => valueOf(given, made.map.values);
  if (ask === "map") return { document: made.map };
  if (ask === "base") return { document: base(made, bases, value()) };
  if (ask === "tracks") return { payload: tracksPayload(await tracks(made, bases, wanted)), preview: false };
  if (ask === "tile") return tile(made, bases, given, value(), wanted);
  if (ask === "row") return { document: row(made, given, value()) };
  if (ask === "column" || ask === "cell") {
    for (const { head } of made.members) await bases.jobs.run(head.allLse(), wanted);
    return { document: ask === "column" ? columnOf(made, given, value()) : cell(made, given) };
  }
  throw new Refusal(`There is no question ${ask.slice(0, 50)}.`, 404);
}

function base(made: Combined, bases: Bases, value: Value): BaseDocument {
  const all = made.members.map((one) => bases.document(one, value));
  return { ready: all.every(({ ready }) => ready), done: all.reduce((sum, { done }) => sum + done, 0) / all.length };
}

async function tile(made: Combined, bases: Bases, given: Given, value: Value, wanted: Wanted): Promise<Answer> {
  const [at, reduce] = [tileOf(given, made.map), reduceOf(given)];
  if (at.zoom > made.map.exact[reduce]) {
    throw new Refusal(`reduce ${reduce} of ${NAMES[made.how]} is not offered at zoom ${at.zoom}; from zoom ${made.map.exact[reduce]} on it is exact.`);
  }
  if (!made.byBlocks(reduce)) {
    const squares = await bases.jobs.run(made.fromCells(bases.kernel, value, at), wanted);
    return { payload: payload(squares, reduce), preview: false };
  }
  const parts = [];
  for (const one of made.members) parts.push(await bases.squares(one, value, at, wanted));
  const squares = made.combined(parts.map((part) => part.squares), at);
  return { payload: payload(squares, reduce), preview: parts.some(({ preview }) => preview) };
}

/** Entropy of a difference's rows (of anything else there is none), and what a key receives (of a max: none). */
async function tracks(made: Combined, bases: Bases, wanted: Wanted): Promise<Tracks> {
  const all: Tracks[] = [];
  for (const one of made.members) all.push(await bases.tracks(one, wanted));
  const [queries, keys] = [made.sight.queries, made.sight.keys];
  const entropy = Float32Array.from({ length: queries }, (_, i) => (made.signed ? made.of(all.map((one) => one.entropy[i]!)) : NaN));
  if (made.how === "max") return { entropy, received: new Float32Array(keys).fill(NaN) };
  const looking = made.members.map(({ head }) => lookers(head.sight));
  const any = lookers(made.sight);
  const received = Float32Array.from({ length: keys }, (_, key) =>
    any[key] === 0 ? NaN : made.of(all.map((one, i) => (looking[i]![key] === 0 ? 0 : one.received[key]! * looking[i]![key]!))) / any[key]!,
  );
  return { entropy, received };
}

/** How many queries may see each key. */
function lookers(sight: Combined["sight"]): Float64Array {
  const steps = new Float64Array(sight.keys + 1);
  for (let row = 0; row < sight.queries; row++) {
    const runs = sight.runs(row, 0, sight.keys);
    for (let at = 0; at < runs.length; at += 2) {
      steps[runs[at]!]! += 1;
      steps[runs[at + 1]!]! -= 1;
    }
  }
  for (let key = 1; key < steps.length; key++) steps[key]! += steps[key - 1]!;
  return steps.subarray(0, sight.keys);
}

function row(made: Combined, given: Given, value: Value): RowDocument {
  const query = below(given, "query", made.sight.queries, "queries of this map");
  const hidden = hiddenOf(given, made.sight.keys);
  const rows = made.members.map(({ head }) => head.row(query, hidden).probs);
  const probs = Array.from({ length: made.sight.keys }, (_, key) => made.of(rows.map((one) => one[key]!)));
  const visible = probs.map((_, key) => made.sight.sees(query, key));
  const entropy = made.signed ? NaN : probs.reduce((sum, p) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
  const norms = made.members.map(({ head }) => head.arrays.vNorm);
  const weighted =
    value === "prob" ? null : probs.map((_, key) => finite(made.of(rows.map((one, i) => (one[key] === 0 ? 0 : one[key]! * norms[i]![key]!)))));
  return { query, probs: probs.map(finite), visible, entropy: finite(entropy + 0), lse: null, sink: 0, weighted };
}

function columnOf(made: Combined, given: Given, value: Value): ColumnDocument {
  const key = below(given, "key", made.sight.keys, "keys of this map");
  const columns = made.members.map((one) => column(one, key).probs);
  const probs = columns[0]!.map((_, query) => made.of(columns.map((one) => one[query]!)));
  const visible = probs.map((_, query) => made.sight.sees(query, key));
  const norms = made.members.map(({ head }) => head.arrays.vNorm?.[key] ?? 0);
  const weighted = value === "prob" ? null : probs.map((_, query) => finite(made.of(columns.map((one, i) => (one[query] === 0 ? 0 : one[query]! * norms[i]!)))));
  return { key, probs: probs.map(finite), visible, received: finite(meanOf(probs, visible)), weighted };
}

function cell(made: Combined, given: Given): CellDocument {
  const query = below(given, "query", made.sight.queries, "queries of this map");
  const key = below(given, "key", made.sight.keys, "keys of this map");
  const visible = made.sight.sees(query, key);
  const prob = visible ? made.of(made.members.map(({ head }) => head.row(query).probs[key]!)) : 0;
  const tile = visible ? Math.fround(made.of(made.members.map(({ head }) => head.cell(query, key)))) : 0;
  const [norm, lse, logit] = [null, null, null];
  return { query, key, visible, prob: finite(prob), tile: finite(tile), difference: finite(Math.abs(tile - prob)), logit, lse, norm, html: "" };
}
