// How a view's channel is, as reactive state.
import type { Line } from "./channelSource";

export class MapLine {
  now = $state<Line>("well");
}
