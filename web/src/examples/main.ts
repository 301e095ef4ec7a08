// The single file: the two worked examples, from disk, with system fonts and no request.
import { mount } from "svelte";
import { startRouter } from "../model/route.svelte";
import { startTheme } from "../model/theme.svelte";
import { suggestLanguage } from "../words/language.svelte";
import Examples from "./Examples.svelte";
import "../style/theme.css";
import "../style/base.css";

// `pozor examples --lang cs` writes the language into the file; it may be changed on the page
const written = document.documentElement.dataset["lang"];
if (written === "cs" || written === "en") suggestLanguage(written);

startTheme();
startRouter();
const target = document.getElementById("app");
if (target !== null) mount(Examples, { target });
