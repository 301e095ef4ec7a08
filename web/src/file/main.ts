// The start of the single file: what is inside is read, the picture gives way to the viewer. Nothing is asked of anybody.
import { mount } from "svelte";
import { startTheme } from "../model/theme.svelte";
import { fileWords } from "../words/file";
import { say, suggestLanguage } from "../words/language.svelte";
import "../style/theme.css";
import "../style/base.css";
import "../style/working.css"; // the fragment of a cell has no styles of its own
import "../style/file.css";
import FilePage from "./FilePage.svelte";
import { fileSource } from "./fileSource";
import { FORMAT, type FileDocument } from "./held";

const written = document.documentElement.dataset["lang"];
if (written === "cs" || written === "en") suggestLanguage(written);
startTheme();
const target = document.getElementById("app");
if (target !== null) start(target);

function start(target: HTMLElement): void {
  try {
    if (typeof DecompressionStream === "undefined") return complain(target, say(fileWords).tooOld);
    const file = JSON.parse(document.getElementById("pozor-file")?.textContent ?? "") as FileDocument;
    if (file.format !== FORMAT) return complain(target, say(fileWords).newer);
    const texts: Record<string, string> = {};
    for (const array of document.querySelectorAll<HTMLElement>("script[data-array]")) {
      texts[array.dataset["array"] ?? ""] = array.textContent.trim();
      array.remove(); // the worker has it: not twice in memory
    }
    const source = fileSource(file, texts);
    // for a reader's console, and for tests: `await pozor.row({ item: 0, layer: 3, … }, 5, [])`
    Object.assign(globalThis, { pozor: source });
    target.replaceChildren();
    mount(FilePage, { target, props: { source, file } });
  } catch (failure) {
    complain(target, `${say(fileWords).broken} (${failure instanceof Error ? failure.message : String(failure)})`);
  }
}

/** Under the picture, which stays. */
function complain(target: HTMLElement, sentence: string): void {
  target.querySelector("[data-without-scripts]")?.remove();
  const note = document.createElement("p");
  note.setAttribute("role", "alert");
  note.className = "file-note";
  note.textContent = sentence;
  target.append(note);
}
