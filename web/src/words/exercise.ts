// Words of an exercise, wherever it stands: in a lesson and in the app.
import { count } from "./numbers";
import { tied } from "./tied";

const en = {
  answer: "Your answer",
  check: "Check",
  empty: "Write your answer first.",
  nothingChosen: "Choose first.",
  right: "Right.",
  notYet: "Not yet.",
  found: "What you said:",
  missed: "What is still missing:",
  model: "It could be said like this:",
  hint: (number: number, of: number) => `Hint ${number} of ${of}`,
  hintName: (number: number) => `Hint ${number}`,
  solution: "Solution",
  isLocked: "locked",
  locked: "The solution is locked. Your teacher has the code.",
  code: "Code",
  unlock: "Unlock",
  newNumbers: "New numbers",
  lessonNumbers: "Back to the lesson's numbers",
  solved: (tries: number) => (tries === 1 ? "solved at the first try" : `solved, ${count(tries, "en", ["try", "tries", "tries"])}`),
  tried: (tries: number) => `not solved yet, ${count(tries, "en", ["try", "tries", "tries"])}`,
  toDo: "not tried yet",
  loading: "The exercise is coming…",
  silent: "Nobody answered: the program that checks exercises is not running, or is busy.",
  again: "Ask again",
};

const cs: typeof en = {
  answer: "Vaše odpověď",
  check: "Zkontrolovat",
  empty: "Nejdřív napište odpověď.",
  nothingChosen: "Nejdřív něco vyberte.",
  right: "Správně.",
  notYet: "Ještě to není ono.",
  found: "Co ve vaší odpovědi je:",
  missed: "Co v ní ještě chybí:",
  model: "Dá se to říct třeba takhle:",
  hint: (number, of) => `Nápověda ${number} z ${of}`,
  hintName: (number) => `${number}. nápověda`,
  solution: "Řešení",
  isLocked: "zamčené",
  locked: "Řešení je zamčené. Kód k němu má vyučující.",
  code: "Kód",
  unlock: "Odemknout",
  newNumbers: "Nová čísla",
  lessonNumbers: "Zpět k číslům z lekce",
  solved: (tries) => (tries === 1 ? "vyřešeno na první pokus" : `vyřešeno na ${tries}. pokus`),
  tried: (tries) => `zatím nevyřešeno, ${count(tries, "cs", ["pokus", "pokusy", "pokusů"])}`,
  toDo: "zatím nezkoušeno",
  loading: "Úloha se načítá…",
  silent: "Nikdo neodpověděl: program, který úlohy kontroluje, neběží, nebo má moc práce.",
  again: "Zeptat se znovu",
};

export const exerciseWords = { en, cs: tied(cs) };
