// What the single file holds beside its arrays; written by `pozor/viewer/single/`.
import type { HeadLine, ItemDocument, Kind, MapDocument, RecordingDocument } from "../read/documents";
import type { ArrayDocument } from "./engine/arrays";

/** A head, its arrays by name. */
export interface HeldHead {
  layer: number;
  kind: Kind;
  head: number;
  kv_head: number;
  map: MapDocument;
  scale: number;
  softcap: number | null;
  sink: number | null;
  dim: number; // of q and k; 0 where the probs themselves are held
  ranges: number; // of keys a row; 0: the mask is held cell by cell
  arrays: {
    q: string | null; // (q_len, dim)
    k: string | null; // (kv_len, dim)
    probs: string | null; // (q_len, kv_len)
    lse: string | null; // (q_len)
    v_norm: string | null; // (kv_len)
    most: string | null; // of the base's blocks where anything is visible
    total: string | null;
    entropy: string; // (q_len)
    received: string; // (kv_len)
    starts: string | null; // (ranges, q_len)
    stops: string | null;
    shown: string | null; // a bit a key: not padding
    cells: string | null; // a bit a cell, each row from a new byte
  };
}

export interface FileDocument {
  format: 1;
  dtype: "float32" | "float16";
  change: number | null; // the largest of a probability by rounding; null: q and k are held as they were
  recording: RecordingDocument;
  item: ItemDocument;
  heads: HeldHead[];
  measures: HeadLine[];
  arrays: Record<string, ArrayDocument>;
}

export const FORMAT = 1;
