// The app: served by `pozor`, everything it needs comes from that server.
import { mount } from "svelte";
import App from "./app/App.svelte";
import { startProgress } from "./exercise/progress.svelte";
import { startRouter } from "./model/route.svelte";
import { startTheme } from "./model/theme.svelte";
import "./style/fonts.css";
import "./style/theme.css";
import "./style/base.css";
import "./style/working.css"; // the fragment of a cell has no styles of its own

startTheme();
startRouter();
startProgress();
const target = document.getElementById("app");
if (target !== null) mount(App, { target });
