// What a page of a worked example holds: the state with its history, what is pointed at, how numbers are shown.
import Big from "big.js";
import { id, parseId, type Address } from "../engine/address";
import { cell, compute, value, type Working } from "../engine/compute";
import { DIGITS, FINEST, toFloat, type Digits, type Num } from "../engine/decimal";
import { isMiddle, reattach, setNumber, type Fault, type Outcome } from "../engine/edit";
import { push, redo, start, undo, type History } from "../engine/history";
import { fromQuery, toQuery, type Refusal } from "../engine/share";
import { initial, type Kind, type State } from "../engine/state";
import { shape } from "../engine/compute";
import { PER_HEAD } from "../engine/address";

export type Notation = "sentence" | "latex" | "numpy";
export const NOTATIONS: readonly Notation[] = ["sentence", "latex", "numpy"];

/** What the page says about the last thing done; kept as a record, so that it changes with the language. */
export type Message =
  | { kind: "fault"; fault: Fault }
  | { kind: "refusal"; refusal: Refusal }
  | { kind: "loaded"; name: string }
  | { kind: "done"; word: "wasReset" | "headEditsDropped" | "wordAdded" };

const SAME_NUDGE_MS = 1000; // arrows pressed within a second are one step of undo

export class Workbench {
  readonly kind: Kind;
  #history = $state.raw<History<State>>(start(initial("paper")));
  digits = $state<Digits>(3);
  notation = $state<Notation>("sentence");
  pointed = $state.raw<Address | null>(null);
  pinned = $state.raw<Address | null>(null);
  query = $state(0); // the row shown in the map, the sentence and the experiments
  head = $state(0);
  message = $state.raw<Message | null>(null);
  /** The numbers that the last change altered, for the flash; a new array each time. */
  changed = $state.raw<readonly string[]>([]);
  #nudged = { id: "", time: 0 };

  #last: Working | null = null;
  readonly working: Working = $derived.by(
    () => (this.#last = compute(this.#history.now, { binary: this.digits === "binary", before: this.#last })),
  );
  // apart from the state, so that what hangs on these rests when a number changes
  readonly words = $derived.by(() => this.#history.now.words);
  readonly heads = $derived.by(() => this.#history.now.heads);
  readonly active: Address | null = $derived(this.pointed ?? this.pinned);

  constructor(kind: Kind, query: URLSearchParams) {
    this.kind = kind;
    this.#history = start(initial(kind));
    this.query = kind === "pub" ? 2 : initial(kind).words.length - 1;
    this.read(query, true);
  }

  get state(): State {
    return this.#history.now;
  }
  get canUndo(): boolean {
    return this.#history.past.length > 0;
  }
  get canRedo(): boolean {
    return this.#history.future.length > 0;
  }

  /** Take a state as the next one; undo leads back. */
  apply(next: State, replace = false): void {
    const before = this.working;
    this.#history = replace ? { ...this.#history, now: next, future: [] } : push(this.#history, next);
    this.#settle(before);
  }

  try(outcome: Outcome): boolean {
    this.message = "fault" in outcome ? { kind: "fault", fault: outcome.fault } : null;
    if ("state" in outcome) this.apply(outcome.state);
    return "state" in outcome;
  }

  undo(): void {
    const before = this.working;
    this.message = null;
    this.#history = undo(this.#history);
    this.#settle(before);
  }

  redo(): void {
    const before = this.working;
    this.message = null;
    this.#history = redo(this.#history);
    this.#settle(before);
  }

  reset(): void {
    this.apply(initial(this.kind));
    this.pinned = null;
    this.message = { kind: "done", word: "wasReset" };
  }

  /** Another example, from a file or a link. */
  load(state: State, name: string | null): void {
    this.apply(state);
    this.message = name === null ? null : { kind: "loaded", name };
  }

  /** A number as it is being edited: all its digits, with a point. */
  editable(a: Address): Num {
    return value(this.working, a);
  }

  setNumber(a: Address, text: string): boolean {
    return this.try(setNumber(this.state, a, text));
  }

  nudge(a: Address, by: string): void {
    const now = toFloat(this.editable(a));
    if (!Number.isFinite(now)) return;
    const next = new Big(this.editable(a)).plus(by).round(FINEST, Big.roundHalfUp).toFixed();
    const outcome = setNumber(this.state, a, next);
    if ("fault" in outcome) {
      this.message = { kind: "fault", fault: outcome.fault };
      return;
    }
    const time = performance.now();
    const again = this.#nudged.id === id(a) && time - this.#nudged.time < SAME_NUDGE_MS && this.canUndo;
    this.#nudged = { id: id(a), time };
    this.message = null;
    this.apply(outcome.state, again);
  }

  reattach(a: Address): void {
    this.apply(reattach(this.state, a));
  }

  isDetached(a: Address): boolean {
    return cell(this.working, a).computed !== null;
  }

  pin(a: Address | null): void {
    this.pinned = a;
    if (a !== null && PER_HEAD.has(a.stage)) this.look(a.row, a.head);
  }

  look(query: number, head = this.head): void {
    this.query = query;
    this.head = head;
  }

  // --- the address

  /** The state and what is looked at, as the address keeps them. */
  get address(): URLSearchParams {
    const query = toQuery(this.state);
    if (this.digits !== 3) query.set("digits", String(this.digits));
    if (this.pinned !== null) query.set("at", id(this.pinned));
    if (this.notation !== "sentence") query.set("as", this.notation);
    return query;
  }

  /** `first`: the page starts with it, so there is nothing to undo. */
  read(query: URLSearchParams, first = false): void {
    const rest = new URLSearchParams(query);
    for (const key of ["digits", "at", "as"]) rest.delete(key);
    const found = fromQuery(this.kind, rest);
    if ("refusal" in found) {
      this.message = { kind: "refusal", refusal: found.refusal };
      return;
    }
    this.message = null;
    this.apply(found.state, first);
    this.changed = [];
    this.digits = DIGITS.find((d) => String(d) === query.get("digits")) ?? 3;
    this.notation = NOTATIONS.find((n) => n === query.get("as")) ?? "sentence";
    const pinned = parseId(query.get("at") ?? "");
    this.pin(pinned !== null && this.#exists(pinned) ? pinned : null);
  }

  #exists(a: Address): boolean {
    if (isMiddle(this.state, a)) return true;
    const [rows, cols] = shape(this.state, a.stage);
    return this.state.given[a.stage] !== undefined && a.head === 0 && a.row < rows && a.col < cols;
  }

  // what is pointed at may have gone with its row or head; what changed is to flash
  #settle(before: Working): void {
    const { state } = this;
    if (this.pinned !== null && !this.#exists(this.pinned)) this.pinned = null;
    if (this.pointed !== null && !this.#exists(this.pointed)) this.pointed = null;
    this.query = Math.min(this.query, state.words.length - 1);
    this.head = Math.min(this.head, state.heads - 1);
    const now = this.working;
    this.changed = [...now.cells].flatMap(([key, cell]) => {
      const old = before.cells.get(key);
      return old !== undefined && (old === cell || toFloat(old.value) === toFloat(cell.value)) ? [] : [key];
    });
  }
}
