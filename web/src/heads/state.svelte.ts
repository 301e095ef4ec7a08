// What the grid, the list and the combinations of one viewer share.
import { Asked } from "../model/asked.svelte";
import type { HeadsDocument, RecordingCard, Reduce, WhichDocument } from "../read/documents";
import type { HeadName } from "./derived";

export class HeadsState {
  readonly measures = new Asked<HeadsDocument>();
  readonly which = new Asked<WhichDocument>();
  readonly others = new Asked<RecordingCard[]>();
  /** Who wants to know which heads look at what is locked. */
  listAsks = $state(false);
  gridAsks = $state(false);
  /** Chosen for a combination, in the order of choosing; all of the kind that the map has. */
  chosen = $state.raw<readonly HeadName[]>([]);
  /** A click on a head chooses it instead of opening it. */
  choosing = $state(false);
  /** The reduction that a combination has replaced by one that is exact from afar. */
  replaced: { by: Reduce; was: Reduce } | null = null;
}
