// Generated from pozor/viewer/documents.py by python -m pozor.viewer.typescript.

export type Kind = "self" | "cross";

export type Variant = "recorded" | "unmasked" | "causal";

export type Value = "prob" | "value_norm";

export type Reduce = "max" | "mean" | "share";

export type Language = "cs" | "en";

export type LearnState = "off" | "starting" | "running" | "ended" | "missing";

export type ExerciseKind = "number" | "vector" | "tokens" | "sentence";

/** One line of the list of recordings. */
export interface RecordingCard {
  /** stable over restarts: a digest of the real path */
  id: string;
  /** of its files; given as &version= a recording that changed since then answers 409 */
  version: string;
  name: string;
  path: string;
  /** why it cannot be opened, one sentence; then numbers are 0 and texts empty */
  error: string | null;
  model: string;
  /** of the stored q, k, v */
  dtype: string;
  items: number;
  /** the longest item's */
  tokens: number;
  layers: number;
  /** query heads of a layer */
  heads: number;
  /** largest relative error of a layer; null = not compared */
  fidelity: number | null;
  /** comes with the package */
  shipped: boolean;
}

/** GET /api/start: what the home page shows. */
export interface StartDocument {
  version: string;
  /** asked for with --lang; null = the browser's */
  lang: Language | null;
  /** the one pozor was started in */
  folder: string;
  recordings: RecordingCard[];
}

/** A token of an item; start and stop count UTF-16 units of the item's text (JavaScript's indices). */
export interface TokenDocument {
  id: number;
  /** its own characters; bytes that are no character alone as ⟨F0 9F⟩, never empty */
  text: string;
  /** start and stop are -1 for a token that is not in the text */
  start: number;
  stop: number;
  special: boolean;
}

/** A recorded sequence in the list of them. */
export interface ItemCard {
  name: string;
  tokens: number;
}

/** …/item?item=: a sequence with its tokens, in columns because there may be 131,072 of them. */
export interface ItemDocument {
  name: string;
  text: string;
  ids: number[];
  /** UTF-16 units into the text; -1: not in the text */
  starts: number[];
  stops: number[];
  /** a token's own characters; null: what the text has from start to stop */
  texts: (string | null)[];
  /** which tokens are special */
  special: number[];
}

/** One recorded layer; heads are query heads, kv_heads[i] is the key head that heads[i] reads. */
export interface LayerDocument {
  layer: number;
  kind: Kind;
  heads: number[];
  kv_heads: number[];
  head_dim: number;
  v_head_dim: number;
  /** multiplies q·k */
  scale: number;
  fidelity: number | null;
  /** the mask in words, for example "causal" or "causal & window (511, 0)" */
  mask: string;
  /** v_norm is there */
  value_norm: boolean;
}

/** GET /api/recordings/{id}. */
export interface RecordingDocument {
  card: RecordingCard;
  items: ItemCard[];
  layers: LayerDocument[];
}

/** The coarsest zoom at which each reduction of a map is exact. */
export interface ExactDocument {
  max: number;
  mean: number;
  share: number;
}

/** …/map?item&layer&kind&head&variant&derived: what the map needs before its tiles; computes nothing. */
export interface MapDocument {
  q_len: number;
  kv_len: number;
  /** position of query 0 among the keys */
  q_offset: number;
  /** zooms 0 … zooms-1; the last is the first with a single tile */
  zooms: number;
  variants: Variant[];
  values: Value[];
  exact: ExactDocument;
}

/** …/base?…&value=: how far the base map is, from which the coarse zooms come; asking starts it. */
export interface BaseDocument {
  ready: boolean;
  /** 0 … 1 */
  done: number;
}

/** GET …/row?…&query=&value=: where one query looks; float64 from the stored q and k. */
export interface RowDocument {
  query: number;
  /** per key; 0 where hidden */
  probs: (number | null)[];
  visible: boolean[];
  entropy: number | null;
  /** null where the row sees nothing */
  lse: number | null;
  /** the part of the row that goes to the sink logit, 0 without one */
  sink: number | null;
  /** asked with value=value_norm: prob · ‖v_j W_O‖ per key */
  weighted: (number | null)[] | null;
}

/** GET …/column?…&key=&value=: who looks at one key; by the stored lse. */
export interface ColumnDocument {
  key: number;
  /** per query; 0 where hidden */
  probs: (number | null)[];
  visible: boolean[];
  received: number | null;
  /** asked with value=value_norm: prob · ‖v_j W_O‖ per query */
  weighted: (number | null)[] | null;
}

/** GET …/cell?…&query=&key=&lang=&digits=: one cell and its working. */
export interface CellDocument {
  query: number;
  key: number;
  visible: boolean;
  /** float64 from q and k; 0 where hidden */
  prob: number | null;
  /** what the map shows, float32; 0 where hidden */
  tile: number | null;
  /** |tile - prob| */
  difference: number | null;
  /** null where hidden */
  logit: number | null;
  /** null where the row sees nothing */
  lse: number | null;
  /** ‖v_j W_O‖ of the key; null: no W_O, or not of one head */
  norm: number | null;
  /** the working of the cell as an HTML fragment (escaped, MathML, no script or style) */
  html: string;
}

/** A recorded head and its measures, means over the queries that see something; null: not known. */
export interface HeadLine {
  layer: number;
  kind: Kind;
  head: number;
  kv_head: number;
  /** part given to key 0 */
  first: number | null;
  /** to the query itself */
  own: number | null;
  /** to the key before it */
  previous: number | null;
  /** nats */
  entropy: number | null;
  /** tokens between query and key, weighted by prob */
  distance: number | null;
  /** to the key after an earlier occurrence of the query's token */
  induction: number | null;
}

/** …/heads?item=: every recorded head; asking starts the measuring. */
export interface HeadsDocument {
  heads: HeadLine[];
  /** 0 … 1, how much of the measures is known */
  done: number;
}

/** What one head gives to the cell, row or column asked for. */
export interface WhichLine {
  layer: number;
  kind: Kind;
  head: number;
  /** of the cell; the largest of the row; what the column receives on average */
  prob: number | null;
  /** the key of a row's largest; the query that gives a column most; null for a cell */
  at: number | null;
}

/** …/which?item&variant&query&key (one or both): every head, the largest prob first. */
export interface WhichDocument {
  query: number | null;
  key: number | null;
  heads: WhichLine[];
}

/** An exercise in the list of all. */
export interface ExerciseLine {
  id: string;
  lesson: number;
  kind: ExerciseKind;
  title: string;
}

/** POST /api/exercise {"ask": "list", "lang"}. */
export interface ExercisesDocument {
  exercises: ExerciseLine[];
}

/** POST /api/exercise {"ask": "exercise", "id", "seed", "lang"}: all that a page may know. */
export interface ExerciseDocument {
  id: string;
  lesson: number;
  kind: ExerciseKind;
  title: string;
  /** null: the numbers of the lesson */
  seed: number | null;
  lang: Language;
  /** Markdown */
  question: string;
  /** the question (escaped, no script or style) */
  html: string;
  /** the words to choose from */
  choices: string[] | null;
  /** how many there are */
  hints: number;
  /** whether the solution asks for a code */
  locked: boolean;
}

/** POST /api/exercise {"ask": "check", "id", "seed", "lang", "answer"}. */
export interface VerdictDocument {
  right: boolean;
  /** key of the recognised mistake */
  diagnosis: string | null;
  /** one or two sentences, plain text */
  message: string;
  /** claims of a sentence */
  found: string[];
  missed: string[];
  /** the model answer of a sentence, Markdown */
  model: string | null;
  model_html: string | null;
  locked: boolean;
}

/** POST /api/exercise {"ask": "hint", "id", "seed", "lang", "number"}. */
export interface HintDocument {
  /** from 0 */
  number: number;
  of: number;
  /** Markdown */
  hint: string;
  html: string;
}

/** POST /api/exercise {"ask": "solution", "id", "seed", "lang", "code"}, where it may be given. */
export interface SolutionDocument {
  /** False */
  locked: boolean;
  /** Markdown */
  solution: string;
  html: string;
}

/** The same where it may not. */
export interface LockedDocument {
  /** True */
  locked: boolean;
  /** asks for the code, or says that it was not the right one */
  message: string;
}

/** GET /api/learn?lang= and POST /api/learn: the process that the lessons run in. */
export interface LearnDocument {
  state: LearnState;
  /** of the lesson asked for, where it runs */
  url: string | null;
  /** why it ended or could not start: a sentence or two in the language asked for */
  reason: string | null;
  /** what happened in it while it went on, likewise */
  notes: string[];
}

/** POST /api/live {"text", "temperature", "seed"}: a text that the small Czech model has read. GET /api/live/{id}/probs is its attention: (layers, heads, tokens, tokens) float32, little-endian. */
export interface LiveDocument {
  id: string;
  text: string;
  /** the first is the line break that stands before every text */
  tokens: TokenDocument[];
  layers: number;
  heads: number;
  /** tokens */
  context: number;
  /** tokens that may still follow */
  room: number;
}

/** POST /api/live/{id}/step {}: one more token. */
export interface LiveStepDocument {
  text: string;
  tokens: TokenDocument[];
  /** that the model gave to it */
  probability: number;
  /** where each head of each layer then looked: (layers, heads, tokens) */
  rows: number[][][];
  room: number;
}

/** Any answer with a status of 400 or more. */
export interface ErrorDocument {
  /** one sentence */
  error: string;
}
