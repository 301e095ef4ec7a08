// The state as a program that runs with NumPy alone and prints the same numbers. Code has the decimal point.
import { parseId, PER_HEAD, type Address, type Stage } from "./address.ts";
import { compute, floats } from "./compute.ts";
import { headDim, type State, type Table } from "./state.ts";

export interface Remarks {
  readonly edited: string; // "edited by hand"
  readonly mask: string; // "a word may not look ahead"
  readonly max: string; // "changes no weight, keeps exp in range"
  readonly empty: string; // "a row that may see nothing gets weights 0"
}

export function numpyProgram(state: State, remarks: Remarks): string {
  const program = [
    "import numpy as np",
    "",
    `words = ${list(state.words.map((w) => pythonString(w.text)))}`,
    ...(state.kind === "paper" ? paper(state, remarks) : pub(state, remarks)),
  ];
  return `${program.join("\n")}\n`;
}

function paper(state: State, remarks: Remarks): string[] {
  const dim = headDim(state);
  const edits = (stage: Stage): string[] => editLines(state, stage, remarks);
  return [
    ...matrix("x", state.given.x),
    ...matrix("W_Q", state.given.w_q),
    ...matrix("W_K", state.given.w_k),
    ...matrix("W_V", state.given.w_v),
    ...matrix("W_O", state.given.w_o),
    "",
    "q, k, v = x @ W_Q, x @ W_K, x @ W_V",
    ...edits("q"),
    ...edits("k"),
    ...edits("v"),
    "",
    `num_heads, head_dim = ${state.heads}, ${dim}`,
    "heads = []",
    "for h in range(num_heads):",
    "    part = slice(h * head_dim, (h + 1) * head_dim)",
    ...indent(attention(state, "q[:, part]", "k[:, part]", remarks)),
    "    out = probs @ v[:, part]",
    ...indent(edits("out")),
    "    print(probs.round(6))",
    "    heads.append(out)",
    "",
    "concat = np.concatenate(heads, axis=1)",
    ...edits("concat"),
    "projected = concat @ W_O",
    ...edits("projected"),
    "result = projected + x",
    ...edits("result"),
    "print(result.round(6))",
  ];
}

function pub(state: State, remarks: Remarks): string[] {
  return [
    ...matrix("q", state.given.q),
    ...matrix("k", state.given.k),
    "v = np.eye(len(words))",
    "",
    `head_dim = ${headDim(state)}`,
    ...attention(state, "q", "k", remarks),
    "out = probs @ v",
    "print(out.round(6))",
  ];
}

function attention(state: State, q: string, k: string, remarks: Remarks): string[] {
  const edits = (stage: Stage): string[] => editLines(state, stage, remarks);
  const working = compute(state);
  const factor = { sqrt: " / np.sqrt(head_dim)", none: "", times10: " / np.sqrt(head_dim) * 10" }[state.scale];
  const heads = Array.from({ length: state.heads }, (_, h) => h);
  const blind = heads.some((h) => floats(working, "sums", h).some(([sum]) => sum === 0));
  return [
    `scores = ${q} @ ${k}.T`,
    ...edits("scores"),
    `scaled = scores${factor}`,
    ...edits("scaled"),
    "logits = scaled.copy()",
    ...(state.causal ? [`logits[np.triu(np.ones(logits.shape, bool), 1)] = -np.inf  # ${remarks.mask}`] : []),
    ...edits("logits"),
    ...exponentials(working.shifted, blind, remarks),
    ...edits("exps"),
    "sums = exps.sum(axis=1, keepdims=True)",
    ...edits("sums"),
    blind ? `probs = np.divide(exps, sums, out=np.zeros_like(exps), where=sums > 0)  # ${remarks.empty}` : "probs = exps / sums",
    ...edits("probs"),
  ];
}

function exponentials(shifted: boolean, blind: boolean, remarks: Remarks): string[] {
  if (!shifted) return ["exps = np.exp(logits)"];
  const top = blind ? ["top = logits.max(axis=1, keepdims=True)", "top[np.isneginf(top)] = 0"] : ["top = logits.max(axis=1, keepdims=True)"];
  return [...top, `exps = np.exp(logits - top)  # ${remarks.max}`];
}

function editLines(state: State, stage: Stage, remarks: Remarks): string[] {
  return Object.entries(state.edits).flatMap(([key, number]) => {
    const a = parseId(key);
    return a?.stage === stage ? [editLine(state, a, number, remarks)] : [];
  });
}

function editLine(state: State, a: Address, number: string, remarks: Remarks): string {
  const head = state.kind === "paper" && PER_HEAD.has(a.stage) && state.heads > 1 ? `if h == ${a.head}: ` : "";
  return `${head}${a.stage}[${a.row}, ${a.col}] = ${number === "-inf" ? "-np.inf" : number}  # ${remarks.edited}`;
}

const indent = (lines: readonly string[]): string[] => lines.map((line) => `    ${line}`);
const list = (items: readonly string[]): string => `[${items.join(", ")}]`;

function matrix(name: string, table: Table = []): string[] {
  const rows = table.map((row) => `    ${list(row)},`);
  return [`${name} = np.array([`, ...rows, "], dtype=float)"];
}

/** A string literal of Python that nothing in a word can leave. */
function pythonString(word: string): string {
  return `"${word.replace(/[\\"]/g, "\\$&").replace(/[\u0000-\u001f\u007f\u2028\u2029]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
}
