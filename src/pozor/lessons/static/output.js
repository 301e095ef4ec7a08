// What a program printed, its last value, its figures and its error; while it runs, a button that stops it.
function add(parent, tag, name, text) {
  const element = document.createElement(tag);
  element.className = name;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

function render({ model, el }) {
  el.classList.add("pozor-output");
  const state = add(el, "div", "state");
  state.setAttribute("role", "status");
  const body = add(el, "div", "body");
  body.setAttribute("aria-live", "polite");

  function draw() {
    const words = model.get("words");
    const result = model.get("result");
    state.replaceChildren();
    if (model.get("running")) {
      add(state, "span", "running", words.running);
      const stop = add(state, "button", "stop", words.stop);
      stop.type = "button";
      stop.addEventListener("click", () => model.send("stop"));
    }
    body.replaceChildren();
    el.dataset.state = model.get("running") ? "running" : result.printed === undefined ? "empty" : "done";
    if (result.printed === undefined) return;
    if (result.printed) add(body, "pre", "printed", result.printed).setAttribute("aria-label", words.output);
    if (result.value) add(body, "pre", "value", result.value).setAttribute("aria-label", words.value);
    for (const data of result.images ?? []) {
      const image = add(body, "img", "figure");
      image.src = `data:image/png;base64,${data}`;
      image.alt = words.figure;
    }
    if (result.error) add(body, "pre", "error", result.error);
    if (result.note) add(body, "p", "note", result.note);
  }

  model.on("change:running", draw);
  model.on("change:result", draw);
  draw();
  return () => {
    model.off("change:running", draw);
    model.off("change:result", draw);
  };
}

export default { render };
