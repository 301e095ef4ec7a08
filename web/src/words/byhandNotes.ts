// Sentences that explain a number of the worked examples, and what a learner stumbles over when comparing texts.
import { tied } from "./tied";

const en = {
  sumOfRounded: (shown: string, sum: string) =>
    `${shown} add up to ${sum}, because each weight was rounded on its own; unrounded they add up to 1.`,
  termsRounded: "The rounded terms shown may differ from the result in the last digit; it is computed from the unrounded ones.",
  closeExponential: (value: string, shown: string) =>
    `e to 0.445 is ${value}, so ${shown} with three decimals; 1.561, which is sometimes printed, comes from rounding twice.`,
  firstRow: (logit: string) =>
    `Under the mask the first word sees one key, itself, so its weights are 1 and then zeros, exactly, whatever its logit. Here the logit is ${logit}; texts that print 0.485 get the same weights.`,
  hidden: (query: string, key: string) => `${key} comes after ${query}, so ${query} may not look at it: −∞, and e to −∞ is 0.`,
  float: (shown: string) =>
    `A program that computes in float64 prints ${shown}: the binary number nearest to a decimal is not the decimal itself. The page computes products and sums in exact decimals unless you ask for float64.`,
  edited: (now: string, computed: string) =>
    `Edited by hand to ${now}: it no longer follows from what is left of it, which gives ${computed}.`,
  unbalanced: (sum: string) => `The weights of this row add up to ${sum}, not to 1, because a number was edited.`,
  shifted: "The row maximum is subtracted before exp. Numerator and denominator shrink alike, so the weights do not change.",
  forced: "exp of these logits is beyond what a float64 can hold, so the row maximum is subtracted first; the weights do not change.",
  nothing: "This row may see nothing; its weights are 0 and its output is 0.",
  binary:
    "float64: products and sums too are now computed in binary, left to right, as a plain program does; the last digits are the machine's, not the example's.",
  digits: "A number with fewer digits than chosen is exact (0.97); a rounded one carries them all (0.730). Halves are rounded up.",
  // what stands beside the controls
  scaleTitle: "Why divide, and what happens when you don't",
  scaleWhy:
    "If the numbers of q and k are independent, with mean 0 and variance 1, their dot product has standard deviation √d: at d = 128 about 11. Such scores saturate softmax, and its slope p(1 − p) goes to zero, so nothing is learned.",
  scaleThree: (word: string, head: string) => `Three experiments on the row of ${word}${head}:`,
  ofHead: (n: number) => ` in head ${n}`,
  scaleNone: (root: string) => `without the division the scores are ${root} times larger`,
  scaleSqrt: "divided by √d",
  scaleTimes10: "ten times larger scores",
  scaleTwo: "Leaving out the division and multiplying by ten are two different experiments.",
  weakest: (from: string, to: string, times: string) => `Ten times larger scores take the weakest weight from ${from} to ${to}, ${times} times less.`,
  saturated: "A saturated softmax rounds badly: [10, 2, 1] gives [0.9995, 0.0003, 0.0001], often misprinted as 0.9997.",
  maskTitle: "The mask in code: two readings of True",
  maskFill: "masked_fill hides where the mask is True: it says what may NOT be seen.",
  maskPozor: "In pozor, and in PyTorch's scaled_dot_product_attention, True says where a word MAY look.",
  maskSame: "Both lines do the same here; swapping the masks shows each word the future and hides the past.",
  // one number as a sentence
  sentence: {
    given: (place: string, n: string) => `${place} is given: ${n}.`,
    product: (place: string, left: string, right: string, n: string) =>
      `${place}: multiply ${left} and ${right} number by number and add up; it gives ${n}.`,
    scores: (query: string, key: string, n: string) =>
      `How well what ${query} looks for fits what ${key} offers: multiply the query and the key number by number and add up; it gives ${n}.`,
    sqrt: (score: string, dim: number, n: string) => `The score ${score} divided by the root of the head's size, √${dim}, is ${n}.`,
    none: (score: string) => `The score ${score} is left as it is, not divided.`,
    times10: (score: string, dim: number, n: string) => `The score ${score} divided by √${dim} and made ten times larger is ${n}.`,
    visible: (query: string, key: string, n: string) => `${query} may look at ${key}, so ${n} stays.`,
    hidden: (query: string, key: string) => `${query} may not look at ${key}, which comes later: −∞.`,
    exp: (logit: string, n: string) => `e to ${logit} is ${n}: always positive, and larger scores grow faster.`,
    sum: (query: string, n: string) => `All the exponentials of the row of ${query} add up to ${n}.`,
    share: (query: string, key: string, part: string, whole: string, n: string) =>
      `${key} has ${part} of the ${whole} that the row adds up to, so ${query} gives it ${n} of its attention.`,
    out: (query: string, n: string) => `The values of the words, each taken as much as ${query} looks at it, add up to ${n}.`,
    copy: (head: number, n: string) => `${n} is taken over from head ${head}.`,
    add: (n: string) => `What attention found is added to what the word was before; it gives ${n}.`,
    row: (query: string, parts: string) => `${query} gives ${parts}.`,
    part: (share: string, key: string) => `${share} of its attention to ${key}`,
    partMore: (share: string, key: string) => `${share} to ${key}`,
    itself: "itself",
    and: " and ",
    edited: (n: string) => `It was then edited by hand to ${n}.`,
  },
};

const cs: typeof en = {
  sumOfRounded: (shown, sum) => `${shown} dá dohromady ${sum}, protože se každá váha zaokrouhlila zvlášť; nezaokrouhlené dají přesně 1.`,
  termsRounded: "Zaokrouhlené sčítance se mohou od výsledku lišit v posledním místě; výsledek se počítá z nezaokrouhlených.",
  closeExponential: (value, shown) =>
    `e na 0,445 je ${value}, tedy na tři místa ${shown}; 1,561, které se někdy tiskne, vznikne dvojím zaokrouhlením.`,
  firstRow: (logit) =>
    `S maskou vidí první slovo jediný klíč, sebe, a tak jsou jeho váhy přesně 1 a pak nuly, ať je logit jakýkoli. Tady je ${logit}; kde se tiskne 0,485, vyjdou stejné váhy.`,
  hidden: (query, key) => `Slovo ${key} přijde až po slově ${query}, a to na ně ještě nesmí vidět: −∞, a e na −∞ je 0.`,
  float: (shown) =>
    `Program, který počítá ve float64, vypíše ${shown}: dvojkové číslo nejbližší desetinnému není to desetinné číslo samo. Stránka počítá součiny a součty v přesných desetinných číslech, pokud si o float64 neřeknete.`,
  edited: (now, computed) => `Přepsáno ručně na ${now}: už nevychází z toho, co je nalevo; odtud by vyšlo ${computed}.`,
  unbalanced: (sum) => `Váhy tohoto řádku dají dohromady ${sum}, a ne 1, protože se některé číslo přepsalo.`,
  shifted: "Před exp se odečte maximum řádku. Čitatel i jmenovatel se zmenší stejněkrát, a tak se váhy nezmění.",
  forced: "exp těchto logitů se do float64 nevejde, a tak se napřed odečte maximum řádku; váhy se nezmění.",
  nothing: "Tento řádek nesmí vidět nic; jeho váhy i výstup jsou 0.",
  binary:
    "float64: i součiny a součty se teď počítají dvojkově, zleva doprava, jako v obyčejném programu; poslední číslice patří počítači, ne příkladu.",
  digits: "Číslo s méně desetinnými místy, než je zvoleno, je přesné (0,97); zaokrouhlené je má všechna (0,730). Přesná polovina se zaokrouhluje nahoru.",
  scaleTitle: "Proč se dělí a co se stane, když se nedělí",
  scaleWhy:
    "Když jsou čísla v q a k nezávislá, s průměrem 0 a rozptylem 1, má jejich skalární součin směrodatnou odchylku √d: pro d = 128 asi 11. Při tak velkých skóre se softmax nasytí: jeho sklon p(1 − p) klesne skoro k nule a síť se už nic nenaučí.",
  scaleThree: (word, head) => `Tři pokusy s řádkem slova ${word}${head}:`,
  ofHead: (n) => ` v hlavě ${n}`,
  scaleNone: (root) => `bez dělení jsou skóre ${root}krát větší`,
  scaleSqrt: "děleno √d",
  scaleTimes10: "desetkrát větší skóre",
  scaleTwo: "Vynechat dělení a násobit deseti jsou dva různé pokusy.",
  weakest: (from, to, times) => `Desetkrát větší skóre stáhnou nejslabší váhu z ${from} na ${to}, tedy ${times}krát.`,
  saturated: "Nasycený softmax se špatně zaokrouhluje: z [10; 2; 1] vyjde [0,9995; 0,0003; 0,0001], místo 0,9995 se často chybně tiskne 0,9997.",
  maskTitle: "Maska v kódu: dvojí čtení slova True",
  maskFill: "masked_fill zakryje místa, kde je v masce True: říká, co vidět NENÍ.",
  maskPozor: "V pozoru i ve scaled_dot_product_attention z PyTorche říká True, kam se slovo dívat SMÍ.",
  maskSame: "Oba řádky tu dělají totéž; kdo masky zamění, ukáže slovům budoucnost a zakryje minulost.",
  sentence: {
    given: (place, n) => `${place} je zadané číslo: ${n}.`,
    product: (place, left, right, n) => `${place}: vynásobte ${left} a ${right} číslo po čísle a sečtěte; vyjde ${n}.`,
    scores: (query, key, n) =>
      `Jak se to, co hledá slovo ${query}, hodí k tomu, co nabízí slovo ${key}: dotaz a klíč se vynásobí číslo po čísle a sečtou; vyjde ${n}.`,
    sqrt: (score, dim, n) => `Skóre ${score} děleno odmocninou z velikosti hlavy, √${dim}, je ${n}.`,
    none: (score) => `Skóre ${score} zůstává, jak je; nedělí se.`,
    times10: (score, dim, n) => `Skóre ${score} děleno √${dim} a desetkrát zvětšené je ${n}.`,
    visible: (query, key, n) => `Slovo ${query} smí vidět slovo ${key}, a tak ${n} zůstává.`,
    hidden: (query, key) => `Slovo ${query} nesmí vidět slovo ${key}, které přijde až po něm: −∞.`,
    exp: (logit, n) => `e na ${logit} je ${n}: vždycky kladné číslo, a čím větší skóre, tím rychleji roste.`,
    sum: (query, n) => `Všechny exponenciály v řádku slova ${query} dají dohromady ${n}.`,
    share: (query, key, part, whole, n) =>
      `Na slovo ${key} připadá ${part} z celkových ${whole}, a tak mu slovo ${query} dává ${n} své pozornosti.`,
    out: (query, n) => `Hodnoty slov, každá vynásobená tím, jak moc se na její slovo dívá slovo ${query}, dají dohromady ${n}.`,
    copy: (head, n) => `${n} se převezme z hlavy ${head}.`,
    add: (n) => `K tomu, čím slovo bylo, se přičte, co pozornost našla; vyjde ${n}.`,
    row: (query, parts) => `Slovo ${query} dává ${parts}.`,
    part: (share, key) => `${share} své pozornosti slovu ${key}`,
    partMore: (share, key) => `${share} slovu ${key}`,
    itself: "samo sobě",
    and: " a ",
    edited: (n) => `Potom bylo ručně přepsáno na ${n}.`,
  },
};

export const noteWords = { en, cs: tied(cs) };
export type NoteWords = typeof en;
