// The module behind pozor.lessons.widgets.Heatmap.
import { mount, unmount } from "svelte";
import type { Language } from "../words/language.svelte";
import HeatmapWidget from "./HeatmapWidget.svelte";
import { followHost } from "./host";
import type { Widget } from "./model";
import { Followed } from "./traits.svelte";

export interface HeatmapTraits {
  probs: (number | null)[][];
  words: string[];
  query_words: string[];
  states: boolean[][];
  unmasked: (number | null)[][];
  mask_shown: boolean;
  selected_row: number;
  lang: Language;
  title: string;
}

const NAMES = ["probs", "words", "query_words", "states", "unmasked", "mask_shown", "selected_row", "lang", "title"] as const;

const widget: Widget<HeatmapTraits> = {
  render({ model, el }) {
    const traits = new Followed(model, NAMES);
    const leave = followHost(el);
    const shown = mount(HeatmapWidget, { target: el, props: { traits } });
    return () => {
      void unmount(shown);
      leave();
      traits.stop();
    };
  },
};
export default widget;
