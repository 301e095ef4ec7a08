// What a reader has done, kept in this browser alone: {id: {right, tries, at}}. The exercises write it
// (web/src/exercise/progress.svelte.ts): to the storage of this port, and packed into a cookie that all ports share.
const KEY = "pozor.progress";
const COOKIE = "pozor-progress"; // id.right.tries.seconds~…
const FORGOTTEN = "pozor-forgotten"; // what is older was forgotten; seconds since 1970, base 36
const YEAR = 366 * 24 * 3600; // seconds

function cookie(name) {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}

function stored() {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    return typeof kept === "object" && kept !== null ? kept : {};
  } catch {
    return {}; // storage is off, or holds something else
  }
}

export function progress() {
  const kept = stored();
  for (const line of cookie(COOKIE).split("~")) {
    const found = /^([\w-]+)\.([01])\.(\d{1,6})\.([0-9a-z]{1,8})$/.exec(line);
    if (!found) continue;
    const one = { right: found[2] === "1", tries: Number(found[3]), at: new Date(parseInt(found[4], 36) * 1000).toISOString() };
    const own = kept[found[1]];
    if (!own || (one.right && !own.right) || (one.right === own.right && one.tries > own.tries)) kept[found[1]] = one;
  }
  const since = parseInt(cookie(FORGOTTEN), 36) * 1000;
  return Object.fromEntries(Object.entries(kept).filter(([, one]) => !(Date.parse(one?.at) < since)));
}

function forget() {
  localStorage.removeItem(KEY);
  const seconds = Math.floor(Date.now() / 1000).toString(36);
  for (const [name, value] of [[COOKIE, ""], [FORGOTTEN, seconds]]) {
    document.cookie = `${name}=${value}; Max-Age=${YEAR}; Path=/; SameSite=Strict`;
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

// one line an exercise, all of them: a teacher lays the files of a class under each other
function table(kept) {
  const rows = Object.entries(exercises()).flatMap(([lesson, ids]) =>
    ids.map((id) => {
      const one = kept[id];
      const at = Date.parse(one?.at) ? new Date(one.at).toISOString() : "";
      return [id, lesson, one?.right === true ? 1 : 0, Number(one?.tries) || 0, at].join(",");
    }),
  );
  return ["exercise,lesson,right,tries,at", ...rows].join("\r\n") + "\r\n";
}

function download() {
  const file = new Blob([table(progress())], { type: "text/csv;charset=utf-8" });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(file);
  link.download = words().file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

function start() {
  document.querySelector("[data-pozor-download]")?.addEventListener("click", download);
  document.querySelector("[data-pozor-forget]")?.addEventListener("click", () => {
    if (!confirm(words().forget_ask)) return;
    forget();
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
