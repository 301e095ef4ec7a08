// Undo and redo over immutable states.

export interface History<T> {
  readonly past: readonly T[];
  readonly now: T;
  readonly future: readonly T[];
}

const DEEPEST = 200;

export function start<T>(now: T): History<T> {
  return { past: [], now, future: [] };
}

export function push<T>(h: History<T>, next: T): History<T> {
  if (next === h.now) return h;
  return { past: [...h.past, h.now].slice(-DEEPEST), now: next, future: [] };
}

export function undo<T>(h: History<T>): History<T> {
  const last = h.past.at(-1);
  return last === undefined ? h : { past: h.past.slice(0, -1), now: last, future: [h.now, ...h.future] };
}

export function redo<T>(h: History<T>): History<T> {
  const [next, ...future] = h.future;
  return next === undefined ? h : { past: [...h.past, h.now], now: next, future };
}
