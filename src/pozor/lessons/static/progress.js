// What a reader has done, kept in this browser alone under `pozor.progress`: {id: {right, tries, at}}.
const KEY = "pozor.progress";

export function progress() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {}; // storage is off, or holds something else
  }
}

function exercises() {
  const held = document.querySelector('meta[name="pozor-exercises"]');
  return held ? JSON.parse(held.content) : {};
}

function words() {
  const held = document.querySelector("[data-pozor-words]");
  return held ? JSON.parse(held.dataset.pozorWords) : {};
}

function show() {
  const kept = progress();
  const known = exercises();
  for (const place of document.querySelectorAll("[data-pozor-lesson]")) {
    const ids = known[place.dataset.pozorLesson] ?? [];
    const pattern = place.dataset.pozorDone ?? words().done ?? "";
    const done = ids.filter((id) => kept[id]?.right === true).length;
    const text = ids.length ? pattern.replace("{done}", String(done)).replace("{of}", String(ids.length)) : "";
    if (place.textContent !== text) place.textContent = text;
    place.dataset.pozorState = ids.length && done === ids.length ? "all" : done ? "some" : "none";
  }
}

// a cell that starts with = + - @ would be a formula where a spreadsheet opens the file
function cell(value) {
  const text = String(value).replace(/^[=+\-@\t\r]/, "'$&");
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export function table(kept, said) {
  const rows = Object.entries(kept).map(([id, one]) => [
    id,
    one?.right === true ? said.yes : said.no,
    Number(one?.tries ?? 0),
    one?.at ?? "",
  ]);
  return [said.columns, ...rows.map((row) => row.map(cell).join(","))].join("\r\n") + "\r\n";
}

function download() {
  const said = words();
  const file = new Blob(["\ufeff", table(progress(), said)], { type: "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = said.file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function start() {
  document.querySelector("[data-pozor-download]")?.addEventListener("click", download);
  document.querySelector("[data-pozor-forget]")?.addEventListener("click", () => {
    if (!confirm(words().forget_ask)) return;
    localStorage.removeItem(KEY);
    show();
  });
  show();
  // a lesson's page is drawn bit by bit, and its exercises write as they are done
  new MutationObserver(show).observe(document.body, { childList: true, subtree: true });
  addEventListener("storage", show);
  addEventListener("pozor-progress", show);
}

if (document.body) start();
else addEventListener("DOMContentLoaded", start);
