// marimo's editors have no name and their scroller cannot be reached: give both, for those who listen or use keys.
const NAME = "Program"; // the same word in both languages
const OUTSIDE = ["marimo-form", "marimo-code-editor"]; // one stands in the shadow of the other

function inside(root, tags) {
  const [tag, ...rest] = tags;
  if (tag === undefined) return [...root.querySelectorAll(".cm-content")];
  return [...root.querySelectorAll(tag)].flatMap((host) => (host.shadowRoot ? inside(host.shadowRoot, rest) : []));
}

// no observer sees into all the shadows that marimo opens and closes
setInterval(() => {
  for (const editor of inside(document, OUTSIDE)) {
    if (editor.getAttribute("aria-label") !== NAME) editor.setAttribute("aria-label", NAME);
    if (editor.tabIndex !== 0 || !editor.hasAttribute("tabindex")) editor.tabIndex = 0;
  }
}, 500);
