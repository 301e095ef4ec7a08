// The single file: the two worked examples, from disk, with system fonts and no request.
import { mount } from "svelte";
import Examples from "./byhand/Examples.svelte";
import { startRouter } from "./model/route.svelte";
import { startTheme } from "./model/theme.svelte";
import "./style/theme.css";
import "./style/base.css";

startTheme();
startRouter();
const target = document.getElementById("app");
if (target !== null) mount(Examples, { target });
