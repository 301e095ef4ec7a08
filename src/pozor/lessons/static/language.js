// marimo's page calls itself English; who reads it aloud needs the language that the lesson is in.
const waiting = setInterval(() => {
  const top = document.querySelector(".pozor-top");
  if (top === null) return;
  document.documentElement.lang = top.lang;
  clearInterval(waiting);
}, 200);
