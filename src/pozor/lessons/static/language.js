// marimo's page calls itself English and by its file; who reads it aloud needs the lesson's own language and name.
const waiting = setInterval(() => {
  const top = document.querySelector(".pozor-top");
  if (top === null) return;
  document.documentElement.lang = top.lang;
  document.title = `${top.querySelector("h1").textContent} · pozor`;
  clearInterval(waiting);
}, 200);
