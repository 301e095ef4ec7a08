// On a projector: →, Space and PageDown go to the next step of the page (a heading, or the top of a section), ← back.
const STEPS = "h1, h2, h3, .pozor-step, .pozor-next";
const NEXT = new Set(["ArrowRight", "PageDown", " "]);
const BACK = new Set(["ArrowLeft", "PageUp"]);

function typing(target) {
  return target.closest?.(
    'input, textarea, select, button, a, [contenteditable="true"], [role="slider"], [role="textbox"], .cm-editor, ' +
      "marimo-anywidget, [data-pozor-keys]",
  );
}

function steps() {
  return [...document.querySelectorAll(STEPS)].filter((one) => one.getClientRects().length > 0);
}

function go(direction) {
  const all = steps();
  const near = 24; // pixels; enlarged, the step at the top of the window stands up to twice as far down
  const tops = all.map((one) => one.getBoundingClientRect().top);
  const found = direction > 0 ? tops.findIndex((top) => top > 64) : tops.findLastIndex((top) => top < 0);
  const step = all[found];
  if (!step) return false;
  const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
  step.style.scrollMarginTop = `${near}px`;
  step.scrollIntoView({ block: "start", behavior: calm ? "auto" : "smooth" });
  for (const one of all) one.toggleAttribute("data-pozor-current", one === step);
  return true;
}

addEventListener(
  "keydown",
  (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.composedPath()[0] ?? event.target)) return;
    const direction = NEXT.has(event.key) && !event.shiftKey ? 1 : BACK.has(event.key) || event.key === " " ? -1 : 0;
    if (direction && go(direction)) event.preventDefault();
  },
  { capture: true },
);
document.documentElement.classList.add("pozor-presenter");
