// When a cell fails, marimo says so for a moment, in English, and points at a console that no reader has.
const ITS = ["An internal error occurred", "See console for details."];
const WORDS = {
  cs: ["Kus lekce se nepovedlo spočítat.", "Chyba je u nás, ne u vás. Zkuste stránku obnovit; co je hotové, zůstane."],
  en: ["A part of the lesson could not be computed.", "The fault is ours, not yours. Try to reload the page; what is done stays."],
};

function lang() {
  const own = document.querySelector(".pozor-top")?.lang || new URLSearchParams(location.search).get("lang") || navigator.language;
  return own.startsWith("cs") ? "cs" : "en";
}

function translate(node) {
  const texts = document.createTreeWalker(node, NodeFilter.SHOW_TEXT);
  for (let text = texts.nextNode(); text !== null; text = texts.nextNode()) {
    const which = ITS.findIndex((one) => text.data.trim().startsWith(one));
    if (which >= 0) text.data = WORDS[lang()][which];
  }
}

new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) translate(node);
}).observe(document.body ?? document.documentElement, { childList: true, subtree: true });
