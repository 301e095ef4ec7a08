// What the reader has solved, kept in this browser alone.
// A lesson runs on a port of its own, and storage is separate for each port; a cookie is not, so it carries progress
// between the lessons and the app. It holds ids of exercises, counts and times, nothing of what was answered.
const KEY = "pozor.progress";
const EVENT = "pozor-progress";
const COOKIE = "pozor-progress";
const FORGOTTEN = "pozor-forgotten"; // what is older was forgotten, on whichever port; seconds since 1970, base 36
const YEAR = 366 * 24 * 3600; // seconds

export interface Done {
  right: boolean;
  /** Checks up to and with the first right one. */
  tries: number;
  /** When it was last checked, ISO 8601. */
  at: string;
}
export type Progress = Readonly<Record<string, Done>>;

let current = $state.raw<Progress>({});

export const progress = {
  get all(): Progress {
    return current;
  },
  of(id: string): Done | null {
    return current[id] ?? null;
  },
};

/** Read what is stored, and again whenever another page or widget has stored something. */
export function startProgress(): () => void {
  read();
  keep(current); // what the cookie brought from another port
  const storage = (event: StorageEvent): void => {
    if (event.key === KEY) read();
  };
  const seen = (): void => {
    if (document.visibilityState === "visible") read();
  };
  addEventListener("storage", storage);
  addEventListener(EVENT, read);
  document.addEventListener("visibilitychange", seen);
  return () => {
    removeEventListener("storage", storage);
    removeEventListener(EVENT, read);
    document.removeEventListener("visibilitychange", seen);
  };
}

/** One more check of an exercise. After the first right answer its count stands still. */
export function record(id: string, right: boolean, at: Date = new Date()): void {
  const before = current[id];
  if (before?.right === true) return;
  current = { ...current, [id]: { right, tries: (before?.tries ?? 0) + 1, at: at.toISOString() } };
  keep(current);
  tell();
}

/** Forget all of it, here and in the lessons. */
export function forget(now: Date = new Date()): void {
  current = {};
  try {
    localStorage.removeItem(KEY);
    write(COOKIE, "");
    write(FORGOTTEN, Math.floor(now.getTime() / 1000).toString(36));
  } catch {
    // no storage here
  }
  tell();
}

// other widgets of this page have modules of their own
const tell = (): boolean => dispatchEvent(new Event(EVENT));

function read(): void {
  try {
    const since = parseInt(cookie(FORGOTTEN), 36) * 1000;
    current = after(since, merged(merged(current, parsed(localStorage.getItem(KEY))), unpacked(cookie(COOKIE))));
  } catch {
    // no storage here: progress lasts as long as the page
  }
}

function keep(all: Progress): void {
  try {
    localStorage.setItem(KEY, JSON.stringify(all));
    write(COOKIE, packed(all));
  } catch {
    // no storage here
  }
}

function write(name: string, value: string): void {
  document.cookie = `${name}=${value}; Max-Age=${YEAR}; Path=/; SameSite=Strict`;
}

function cookie(name: string): string {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found?.slice(name.length + 1) ?? "";
}

/** What was done since then; NaN: ever. */
export function after(since: number, all: Progress): Progress {
  if (Number.isNaN(since)) return all;
  return Object.fromEntries(Object.entries(all).filter(([, { at }]) => Date.parse(at) >= since));
}

/** Of two states of the same exercise the better known one: right before not yet, more tries before fewer. */
export function merged(a: Progress, b: Progress): Progress {
  const both: Record<string, Done> = { ...a };
  for (const [id, done] of Object.entries(b)) {
    const own = both[id];
    if (own === undefined || (done.right && !own.right) || (done.right === own.right && done.tries > own.tries)) both[id] = done;
  }
  return both;
}

/** The stored JSON, as far as it has the right form: anything may stand in a storage. */
export function parsed(text: string | null): Progress {
  let value: unknown = null;
  try {
    value = JSON.parse(text ?? "null");
  } catch {
    return {};
  }
  if (typeof value !== "object" || value === null) return {};
  const pairs = Object.entries(value).flatMap(([id, one]: [string, unknown]) => (isDone(one) ? [[id, one] as const] : []));
  return Object.fromEntries(pairs);
}

function isDone(value: unknown): value is Done {
  if (typeof value !== "object" || value === null) return false;
  const { right, tries, at } = value as Partial<Record<keyof Done, unknown>>;
  return typeof right === "boolean" && Number.isSafeInteger(tries) && Number(tries) > 0 && typeof at === "string" && !Number.isNaN(Date.parse(at));
}

/** first-token-out.1.2.sx0q3c~… : id, right, tries, seconds since 1970 in base 36; some 30 bytes an exercise. */
export function packed(all: Progress): string {
  return Object.entries(all)
    .filter(([id]) => /^[\w-]+$/.test(id))
    .map(([id, { right, tries, at }]) => [id, right ? 1 : 0, tries, Math.floor(Date.parse(at) / 1000).toString(36)].join("."))
    .join("~");
}

export function unpacked(text: string): Progress {
  const lines = text.split("~").flatMap((line) => {
    const found = /^([\w-]+)\.([01])\.([1-9]\d{0,5})\.([0-9a-z]{1,8})$/.exec(line);
    if (found === null) return [];
    const [, id = "", right, tries, seconds = ""] = found;
    const when = Math.min(parseInt(seconds, 36) * 1000, 8.64e15);
    return [[id, { right: right === "1", tries: Number(tries), at: new Date(when).toISOString() }] as const];
  });
  return Object.fromEntries(lines);
}

/** Progress as a table for a teacher: one line an exercise, in the order given. Ids hold no comma or quote. */
export function csv(exercises: readonly { id: string; lesson: number }[], all: Progress): string {
  const lines = exercises.map(({ id, lesson }) => {
    const done = all[id];
    return [id, lesson, done?.right === true ? 1 : 0, done?.tries ?? 0, done?.at ?? ""].join(",");
  });
  return ["exercise,lesson,right,tries,at", ...lines].join("\r\n") + "\r\n";
}
