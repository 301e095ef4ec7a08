// The module behind pozor.lessons.widgets.ExerciseWidget.
import { mount, unmount } from "svelte";
import { startProgress } from "../exercise/progress.svelte";
import type { Language } from "../words/language.svelte";
import { channel } from "./channel";
import ExerciseFrame from "./ExerciseFrame.svelte";
import { followHost } from "./host";
import type { Widget } from "./model";
import { Followed } from "./traits.svelte";

export interface ExerciseTraits {
  exercise: string;
  seed: number | null;
  lang: Language;
}

const widget: Widget<ExerciseTraits> = {
  render({ model, el }) {
    const traits = new Followed(model, ["exercise", "seed", "lang"]);
    const { serve, stop } = channel(model);
    const endings = [followHost(el), startProgress(), stop, () => traits.stop()];
    const shown = mount(ExerciseFrame, { target: el, props: { traits, serve } });
    return () => {
      void unmount(shown);
      for (const end of endings) end();
    };
  },
};
export default widget;
