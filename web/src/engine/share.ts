// A state as the part of an address after `?` (what differs from the original, readable) and as a JSON file.
// Both ways in judge everything they read: the first thing that is wrong is named, nothing is guessed.
import { id, parseId, type Address } from "./address.ts";
import { isMiddle, readNumber } from "./edit.ts";
import {
  BY_WORD,
  data,
  FEWEST,
  GIVEN,
  initial,
  isVisible,
  LONGEST,
  MOST,
  SCALES,
  WIDTH,
  type Kind,
  type State,
  type Table,
  type Word,
} from "./state.ts";
import type { Stage } from "./address.ts";

const VERSION = 1;
export const LARGEST_FILE = 100_000; // characters; the largest true one has under 10,000

/** What was wrong: the place as written, and what came there. */
export interface Refusal {
  readonly rule:
    | "size"
    | "json"
    | "foreign"
    | "version"
    | "kind"
    | "unknown"
    | "words"
    | "word"
    | "shape"
    | "number"
    | "heads"
    | "scale"
    | "switch"
    | "edit";
  readonly where: string;
  readonly came: string;
}

export type Reading = { state: State } | { refusal: Refusal };

class Refused extends Error {
  readonly refusal: Refusal;
  constructor(rule: Refusal["rule"], where: string, came: unknown) {
    super(rule);
    this.refusal = { rule, where: clip(where), came: clip(typeof came === "string" ? came : (JSON.stringify(came) ?? "")) };
  }
}

const clip = (text: string): string => (text.length > 40 ? `${text.slice(0, 39)}…` : text);

// --- JSON file

export function toJson(state: State): string {
  const { kind, words, given, heads, scale, causal, subtractMax, edits } = state;
  const file = { pozor: "example", version: VERSION, kind, words, heads, scale, causal, subtractMax, given, edits };
  return `${JSON.stringify(file, null, 1).replace(/\[\s+("[^[\]]*?")\s+\]/g, (_, row: string) => `[${row.replace(/\s*\n\s*/g, " ")}]`)}\n`;
}

export function fromJson(text: string): Reading {
  return reading(() => {
    if (text.length > LARGEST_FILE) throw new Refused("size", "file", String(text.length));
    let file: unknown;
    try {
      file = JSON.parse(text);
    } catch {
      throw new Refused("json", "file", text.trim());
    }
    if (!isRecord(file) || file["pozor"] !== "example") throw new Refused("foreign", "pozor", isRecord(file) ? file["pozor"] : file);
    if (file["version"] !== VERSION) throw new Refused("version", "version", file["version"]);
    const kind = file["kind"];
    if (kind !== "paper" && kind !== "pub") throw new Refused("kind", "kind", kind);
    const { pozor: _, version: __, kind: ___, ...fields } = file;
    return assemble(kind, fields);
  });
}

// --- address

/** Only what differs from the original; `words=pes*spí&heads=2&x=1_0_1_0*0_1_0_1&scores.0.1.0=0.5`: `*` and `_` pass through an address as they are. */
export function toQuery(state: State): URLSearchParams {
  const first = initial(state.kind);
  const query = new URLSearchParams();
  if (JSON.stringify(state.words) !== JSON.stringify(first.words)) {
    query.set("words", state.words.map((w) => escapeStar(w.text)).join("*"));
    if (state.words.some((w) => w.gloss !== "")) {
      query.set("glosses", state.words.map((w) => escapeStar(w.gloss)).join("*"));
    }
  }
  if (state.heads !== first.heads) query.set("heads", String(state.heads));
  if (state.scale !== first.scale) query.set("scale", state.scale);
  if (state.causal !== first.causal) query.set("causal", state.causal ? "1" : "0");
  if (state.subtractMax) query.set("max", "1");
  for (const stage of GIVEN[state.kind]) {
    const text = tableText(state.given[stage] ?? []);
    if (text !== tableText(first.given[stage] ?? [])) query.set(stage, text);
  }
  for (const [key, number] of Object.entries(state.edits)) query.set(key, number);
  return query;
}

export function fromQuery(kind: Kind, query: URLSearchParams): Reading {
  return reading(() => {
    const fields: Record<string, unknown> = {};
    const given: Record<string, unknown> = {};
    const edits: Record<string, unknown> = {};
    for (const [key, text] of query) {
      if (text.length > 2000) throw new Refused("size", key, String(text.length));
      if (GIVEN[kind].some((stage) => stage === key)) given[key] = text.split("*").map((row) => row.split("_"));
      else if (key.includes(".")) edits[key] = text;
      else if (key === "words") fields["words"] = wordsOf(text, query.get("glosses"));
      else if (key === "heads") fields["heads"] = Number(text);
      else if (key === "scale") fields["scale"] = text;
      else if (key === "causal" || key === "max") {
        if (text !== "0" && text !== "1") throw new Refused("switch", key, text);
        fields[key === "max" ? "subtractMax" : key] = text === "1";
      } else if (key !== "glosses") throw new Refused("unknown", key, text);
    }
    return assemble(kind, { ...fields, given, edits });
  });
}

const escapeStar = (word: string): string => word.replaceAll("\\", "\\\\").replaceAll("*", "\\*");

function splitWords(text: string): string[] {
  const words = [""];
  for (let i = 0; i < text.length; i++) {
    const c = text[i] ?? "";
    if (c === "*") words.push("");
    else words[words.length - 1] += c === "\\" ? (text[++i] ?? "") : c;
  }
  return words;
}

function wordsOf(text: string, glosses: string | null): Word[] {
  const gloss = glosses === null ? [] : splitWords(glosses);
  return splitWords(text).map((word, i) => ({ text: word, gloss: gloss[i] ?? "" }));
}

const tableText = (table: Table): string => table.map((row) => row.join("_")).join("*");

// --- judging

function reading(read: () => State): Reading {
  try {
    return { state: read() };
  } catch (error) {
    if (error instanceof Refused) return { refusal: error.refusal };
    throw error;
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function assemble(kind: Kind, fields: Record<string, unknown>): State {
  const first = initial(kind);
  const known = ["words", "heads", "scale", "causal", "subtractMax", "given", "edits"];
  const stray = Object.keys(fields).find((key) => !known.includes(key));
  if (stray !== undefined) throw new Refused("unknown", stray, fields[stray]);
  const words = fields["words"] === undefined ? first.words : readWords(fields["words"]);
  const heads = fields["heads"] ?? first.heads;
  if (typeof heads !== "number" || !data(kind).head_counts.includes(heads)) throw new Refused("heads", "heads", heads);
  const scale = SCALES.find((s) => s === (fields["scale"] ?? first.scale));
  if (scale === undefined) throw new Refused("scale", "scale", fields["scale"]);
  const bare: State = {
    ...first,
    words,
    heads,
    scale,
    causal: readSwitch("causal", fields["causal"] ?? first.causal),
    subtractMax: readSwitch("subtractMax", fields["subtractMax"] ?? first.subtractMax),
    given: readGiven(first, words.length, fields["given"] ?? {}),
  };
  return { ...bare, edits: readEdits(bare, fields["edits"] ?? {}) };
}

function readSwitch(where: string, value: unknown): boolean {
  if (typeof value !== "boolean") throw new Refused("switch", where, value);
  return value;
}

function readWords(value: unknown): Word[] {
  if (!Array.isArray(value) || value.length < FEWEST || value.length > MOST) {
    throw new Refused("words", "words", Array.isArray(value) ? String(value.length) : value);
  }
  return value.map((word: unknown, i) => {
    if (!isRecord(word) || !isWord(word["text"], 1) || !isWord(word["gloss"], 0)) throw new Refused("word", `words[${i}]`, word);
    return { text: word["text"], gloss: word["gloss"] };
  });
}

function isWord(value: unknown, shortest: number): value is string {
  return typeof value === "string" && (shortest === 0 || isVisible(value)) && [...value].length <= LONGEST;
}

function readGiven(first: State, words: number, value: unknown): State["given"] {
  if (!isRecord(value)) throw new Refused("shape", "given", value);
  const stray = Object.keys(value).find((key) => !GIVEN[first.kind].some((stage) => stage === key));
  if (stray !== undefined) throw new Refused("unknown", `given.${stray}`, value[stray]);
  const given: Partial<Record<Stage, Table>> = {};
  for (const stage of GIVEN[first.kind]) {
    const rows = BY_WORD[first.kind].includes(stage) ? words : WIDTH;
    given[stage] = readTable(stage, rows, value[stage] ?? first.given[stage]);
  }
  return given;
}

function readTable(stage: Stage, rows: number, value: unknown): Table {
  const right = Array.isArray(value) && value.length === rows && value.every((r) => Array.isArray(r) && r.length === WIDTH);
  if (!right) throw new Refused("shape", stage, `${rows} × ${WIDTH}`);
  return (value as unknown[][]).map((row, i) =>
    row.map((number, j) => {
      const text = typeof number === "number" ? String(number) : number;
      const read = typeof text === "string" ? readNumber(text, { stage, head: 0, row: i, col: j }) : null;
      if (typeof read !== "string") throw new Refused("number", `${stage}[${i}][${j}]`, number);
      return read;
    }),
  );
}

function readEdits(state: State, value: unknown): Record<string, string> {
  if (!isRecord(value)) throw new Refused("edit", "edits", value);
  const edits: Record<string, string> = {};
  for (const [key, number] of Object.entries(value)) {
    const a: Address | null = parseId(key);
    if (a === null || !isMiddle(state, a)) throw new Refused("edit", key, number);
    const read = typeof number === "string" ? readNumber(number, a) : null;
    if (typeof read !== "string") throw new Refused("number", key, number);
    edits[id(a)] = read;
  }
  return edits;
}
