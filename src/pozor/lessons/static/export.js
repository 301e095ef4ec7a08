// A page of an export before its Python runs, or without it: the maps and exercises are drawn by their own scripts from
// what was computed when the export was made, and a note says what is missing for the rest.
const held = JSON.parse(document.getElementById("pozor-asleep").textContent);

function answer(widget, message) {
  const known = widget.known ?? {};
  if (message.ask === "exercise") return known.exercise;
  if (message.ask === "hint") return known.hints?.[message.number] ?? { error: held.words.asleep };
  if (message.ask === "solution") return known.solution ?? { error: held.words.asleep };
  return { error: held.words.asleep };
}

function model(widget) {
  const state = structuredClone(widget.state);
  const heard = new Map();
  const tell = (event, content) => (heard.get(event) ?? []).forEach((callback) => callback(content));
  return {
    get: (name) => state[name],
    set: (name, value) => {
      state[name] = value;
      tell(`change:${name}`, value);
    },
    save_changes: () => {},
    on: (event, callback) => heard.set(event, [...(heard.get(event) ?? []), callback]),
    off: (event, callback) => heard.set(event, (heard.get(event) ?? []).filter((one) => one !== callback)),
    send: (content) => {
      if (content?.message) tell("msg:custom", { serve: content.serve, answer: answer(widget, content.message) });
    },
  };
}

// marimo leaves the place of a widget empty until Python opens its model
async function wake(place) {
  const id = JSON.parse(place.dataset.modelId); // marimo writes attributes as JSON
  const widget = held.widgets[id];
  const shown = place.parentElement?.nextElementSibling;
  const asleep = shown?.classList.contains("pozor-asleep") ? shown : null;
  if (asleep && asleep.dataset.model !== id) asleep.remove();
  place.style.display = widget ? "none" : ""; // it would say that there is no such model
  if (!widget || asleep?.dataset.model === id) return;
  const element = document.createElement("div");
  element.className = "pozor-asleep";
  element.dataset.model = id;
  place.parentElement.after(element);
  const module = await import(`../widgets/${widget.kind}.js`);
  const root = element.attachShadow({ mode: "open" });
  const inside = document.createElement("div");
  root.append(inside);
  module.default.render({ model: model(widget), el: inside });
}

function all() {
  for (const place of document.querySelectorAll("marimo-anywidget[data-model-id]")) void wake(place);
}

// what Python in the browser needs, asked for one by one so that the note can name what did not come
async function missing() {
  const found = await Promise.all(
    held.needs.map((url) =>
      fetch(url, { method: "HEAD", cache: "no-store" }).then(
        (response) => (response.ok ? null : url),
        () => url,
      ),
    ),
  );
  return found.filter((url) => url !== null);
}

async function start() {
  all();
  new MutationObserver(all).observe(document.body, { childList: true, subtree: true });
  const urls = await missing();
  if (urls.length === 0) return;
  const note = document.createElement("details");
  note.className = "pozor-missing";
  const said = document.createElement("summary");
  said.textContent = held.words.missing;
  const list = document.createElement("ul");
  for (const url of urls) list.append(Object.assign(document.createElement("li"), { textContent: url }));
  note.append(said, list);
  document.body.prepend(note);
}

if (document.body) void start();
else addEventListener("DOMContentLoaded", start);
