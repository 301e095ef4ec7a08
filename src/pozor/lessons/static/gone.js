// When the lessons' process or the network is gone, marimo says so in its own words; here is what to do, in the reader's.
const WORDS = {
  cs: {
    gone: "Lekce neodpovídá: její program skončil, nebo vypadlo připojení. Co máte hotové, zůstalo v prohlížeči.",
    then: "Nepomůže-li obnovení, otevřete lekci znovu tam, odkud jste přišli: z aplikace, z adresy v terminálu, nebo z odkazu pro třídu.",
    reload: "Obnovit stránku",
  },
  en: {
    gone: "The lesson does not answer: its program has ended, or the connection is lost. What you have done is kept in the browser.",
    then: "If reloading does not help, open the lesson again where you came from: the app, the address in the terminal, or the link of the class.",
    reload: "Reload the page",
  },
};
const ENDED = ".disconnected-gradient"; // marimo draws it over a page whose kernel is gone
let told = null;

function tell() {
  const lang = document.querySelector(".pozor-top")?.lang === "cs" ? "cs" : "en";
  const note = document.createElement("aside");
  note.className = "pozor-missing pozor-gone";
  note.lang = lang;
  note.setAttribute("role", "alert");
  for (const key of ["gone", "then"]) {
    const line = document.createElement("p");
    line.textContent = WORDS[lang][key];
    note.append(line);
  }
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = WORDS[lang].reload;
  button.addEventListener("click", () => location.reload());
  note.append(button);
  document.body.append(note);
  return note;
}

// an export has no process that could end
if (/\/lessons\/\w+\/$/.test(location.pathname)) {
  setInterval(() => {
    const gone = document.querySelector(ENDED) !== null;
    if (gone && told === null) told = tell();
    if (!gone && told !== null) {
      told.remove();
      told = null;
    }
  }, 500);
}
