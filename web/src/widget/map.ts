// The module behind pozor.viewer.widget.MapWidget: the viewer in a shadow tree of its own, asking Python.
import { mount, unmount } from "svelte";
import { standIn } from "../app/paint";
import baseStyle from "../style/base.css?inline";
import tokens from "../style/theme.css?inline";
import workingStyle from "../style/working.css?inline";
import { channelSource } from "./channelSource";
import frameStyle from "./frame.css?inline";
import { followHost } from "./host";
import { MapLine } from "./mapLine.svelte";
import MapFrame from "./MapFrame.svelte";
import { NAMES, type MapTraits } from "./mapTraits";
import type { Widget } from "./model";
import { Followed } from "./traits.svelte";

// the app's sheets speak of a whole page; here they hold in the view alone
const STYLE = `${tokens.replaceAll(":root", ".pozor-view")}\n.pozor-view {\n${baseStyle}\n${workingStyle}\n}\n${frameStyle}`;

const widget: Widget<MapTraits> = {
  render({ model, el }) {
    const host = document.createElement("div");
    host.setAttribute("data-lm-suppress-shortcuts", "true"); // Jupyter Lab: keys pressed in here are not its own
    el.append(host);
    const root = host.attachShadow({ mode: "open" });
    const style = document.createElement("style");
    style.textContent = STYLE;
    const frame = document.createElement("div");
    frame.className = "pozor-view";
    root.append(style, frame);
    const own = (event: Event): void => event.stopPropagation();
    const OWN_EVENTS = ["keydown", "keyup", "keypress", "copy", "cut", "paste"] as const;
    for (const name of OWN_EVENTS) host.addEventListener(name, own);

    const line = new MapLine();
    const traits = new Followed(model, NAMES);
    const { source, stop } = channelSource(model, (now) => (line.now = now));
    const endings = [
      followHost(el, (now) => (frame.dataset["theme"] = now)),
      standIn(frame),
      stop,
      () => traits.stop(),
      () => host.remove(),
    ];
    const shown = mount(MapFrame, {
      target: frame,
      props: {
        traits,
        source,
        get line() {
          return line.now;
        },
      },
    });
    return () => {
      void unmount(shown);
      for (const end of endings) end();
    };
  },
};
export default widget;
