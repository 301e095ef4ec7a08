// Words of the colours: legend, range, scale, value-weighted view. Czech: bod = pixel, políčko = cell.
import type { Reduce, Value } from "../read/documents";
import type { Transfer } from "../scales/transfer";
import { count } from "./numbers";
import { tied } from "./tied";

const en = {
  // controls
  transfer: "scale",
  transfers: { linear: "linear", power: "power", log: "logarithmic" } satisfies Record<Transfer, string>,
  root: (root: number) => `power 1/${root}`,
  range: "up to",
  unit: "1",
  max: "the largest",
  clip: (percent: string) => `${percent} of pixels`,
  own: "set by hand",
  leaveFirst: "without the first token",
  leaveFirstIs: "The first token often takes most of the attention. Leave it out of the measuring, and the scale serves the others.",
  fit: "fit to view",
  fitIs: "Take the range from what is visible now. Then it stays, wherever the map is moved.",
  fitted: (low: string, high: string) => `The colours now span ${low} to ${high}.`,
  nothingToFit: "Nothing in the window has a value to fit to.",
  reset: "reset",
  resetIs: "Back to the usual range",
  decades: (many: number) => count(many, "en", ["power of ten", "powers of ten", "powers of ten"]),
  decadesName: "how many powers of ten",

  // the scale
  legend: "Legend",
  low: "Low end of the range",
  high: "High end of the range",
  lowIs: (value: string) => `${value} and less have the first colour`,
  highIs: (value: string) => `${value} and more have the last colour`,
  handleKeys: "Arrows move it, Delete puts it back.",
  from: (low: string, high: string) => `${low} to ${high}`,
  darkIsLess: "dark = less, light = more",
  lightIsLess: "light = less, dark = more",
  signed: "blue = less than the other, orange = more",
  units: {
    prob: "weight: a key's part of a row's attention",
    value_norm: "weight × ‖value‖: the length of what a key adds, in units of the residual stream",
  } satisfies Record<Value, string>,
  differences: {
    prob: "difference of weights",
    value_norm: "difference of lengths, in units of the residual stream",
  } satisfies Record<Value, string>,
  whole: (side: number) => (side === 1 ? "the whole map" : `the whole map, at ${side} × ${side} cells a pixel`),
  inView: "what was in view",
  measuredMax: (of: string) => `ends at the largest of ${of}`,
  measuredClip: (percent: string, of: string) => `holds ${percent} of the pixels of ${of}`,
  withoutFirst: (last: number) => `leaves out keys 0–${last}, which share a pixel`,
  stays: "set by hand; stays while the map moves",
  masked: "hidden by the mask",
  odd: { 3: "not a number", 4: "plus infinity", 5: "minus infinity" } as Record<number, string>,

  // what a pixel stands for
  oneCell: "one square = one cell",
  reduced: (reduce: Reduce, side: number) =>
    ({
      max: `a pixel = the largest of ${side} × ${side} cells`,
      mean: `a pixel = the mean of the visible ones of ${side} × ${side} cells`,
      share: `a pixel = the share of a row that falls into ${side} × ${side} cells`,
    })[reduce],
  preview: "preview: every 16th row",
  coarse: "coarse; the fine one is on its way",

  // the value-weighted view
  value: "shows",
  values: { prob: "weight", value_norm: "weight × ‖value‖" } satisfies Record<Value, string>,
  valueIs: "How long the vector is that a key adds to the output: its weight times ‖v·W_O‖. A large weight on a short vector does little.",
  noNorm: "only weights: this layer was recorded without W_O",
  brings: (who: string, list: string) => `Most of what comes to ${who}: ${list}`,
  bringsNothing: (who: string) => `Nothing comes to ${who}`,
  takes: (who: string, list: string) => `${who} brings most to: ${list}`,
  takesNothing: (who: string) => `${who} brings nothing to anybody`,
  lengthsAre: "The numbers are lengths: weight times ‖v·W_O‖, in units of the residual stream.",
  lengthIs: (norm: string) => `the length of what the key adds: the weight times ‖v·W_O‖ = ${norm}`,
  length: "length",
  textRow: "The more strongly a word is coloured, the more it brings to the chosen row.",
  textColumn: "The more strongly a word is coloured, the more the chosen one brings to it.",
  differs: (who: string, list: string) => `${who} differs most at ${list}`,
  differsNowhere: (who: string) => `${who} differs nowhere`,
};

const cs: typeof en = {
  transfer: "stupnice",
  transfers: { linear: "lineární", power: "mocninná", log: "logaritmická" },
  root: (root) => `mocnina 1/${root}`,
  range: "do",
  unit: "1",
  max: "největší",
  clip: (percent) => `${percent} bodů`,
  own: "nastaveno ručně",
  leaveFirst: "bez prvního tokenu",
  leaveFirstIs: "První token často bere většinu pozornosti. Když se do měření nezapočítá, zbude stupnice na ostatní.",
  fit: "podle výřezu",
  fitIs: "Vzít rozsah z toho, co je teď vidět. Pak už se nemění, ať se mapa posune kamkoli.",
  fitted: (low, high) => `Barvy teď mají rozsah ${low} až ${high}.`,
  nothingToFit: "V okně není žádná hodnota, které by se šlo přizpůsobit.",
  reset: "vrátit",
  resetIs: "Zpět k obvyklému rozsahu",
  decades: (many) => count(many, "cs", ["řád", "řády", "řádů"]),
  decadesName: "kolik řádů",

  legend: "Legenda",
  low: "Dolní konec rozsahu",
  high: "Horní konec rozsahu",
  lowIs: (value) => `${value} a méně má první barvu`,
  highIs: (value) => `${value} a více má poslední barvu`,
  handleKeys: "Šipky jím posouvají, Delete ho vrátí.",
  from: (low, high) => `${low} až ${high}`,
  darkIsLess: "tmavá = méně, světlá = více",
  lightIsLess: "světlá = méně, tmavá = více",
  signed: "modrá = méně než druhá, oranžová = více",
  units: {
    prob: "váha: jaký díl pozornosti řádku dostává klíč",
    value_norm: "váha × ‖hodnota‖: délka toho, co klíč přidává, v jednotkách zbytkového proudu",
  },
  differences: {
    prob: "rozdíl vah",
    value_norm: "rozdíl délek, v jednotkách zbytkového proudu",
  },
  whole: (side) => (side === 1 ? "celé mapy" : `celé mapy, kde bod má ${side} × ${side} políček`),
  inView: "toho, co bylo v okně",
  measuredMax: (of) => `končí u největší hodnoty ${of}`,
  measuredClip: (percent, of) => `vejde se do nich ${percent} bodů ${of}`,
  withoutFirst: (last) => `bez klíčů 0–${last}, které mají společný bod`,
  stays: "nastaveno ručně; při posouvání mapy se nemění",
  masked: "zakryto maskou",
  odd: { 3: "není číslo", 4: "plus nekonečno", 5: "minus nekonečno" },

  oneCell: "jeden čtvereček = jedno políčko",
  reduced: (reduce, side) =>
    ({
      max: `bod = největší z ${side} × ${side} políček`,
      mean: `bod = průměr viditelných z ${side} × ${side} políček`,
      share: `bod = podíl řádku, který připadá na ${side} × ${side} políček`,
    })[reduce],
  preview: "náhled: každý 16. řádek",
  coarse: "zatím zhruba, přesný obraz se počítá",

  value: "zobrazit",
  values: { prob: "váha", value_norm: "váha × ‖hodnota‖" },
  valueIs: "Jak dlouhý vektor klíč přidává do výstupu: jeho váha krát ‖v·W_O‖. Velká váha krátkého vektoru toho mnoho nezmůže.",
  noNorm: "jen váhy: u této vrstvy není v záznamu W_O",
  brings: (who, list) => `${who} dostává nejvíc od: ${list}`,
  bringsNothing: (who) => `${who} nedostává nic`,
  takes: (who, list) => `Kam ${who} přináší nejvíc: ${list}`,
  takesNothing: (who) => `${who} nepřináší nikomu nic`,
  lengthsAre: "Čísla jsou délky: váha krát ‖v·W_O‖, v jednotkách zbytkového proudu.",
  lengthIs: (norm) => `délka toho, co klíč přidává: váha krát ‖v·W_O‖ = ${norm}`,
  length: "délka",
  textRow: "Čím sytěji je slovo podbarvené, tím víc vybranému řádku přináší.",
  textColumn: "Čím sytěji je slovo podbarvené, tím víc mu to vybrané přináší.",
  differs: (who, list) => `${who}: největší rozdíl má ${list}`,
  differsNowhere: (who) => `${who}: žádný rozdíl`,
};

export const colourWords = { en, cs: tied(cs) };
