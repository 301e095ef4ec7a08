// What the page remembers on this machine (language, appearance). Works without storage too, as from some files.

export function recall(key: string): string | null {
  try {
    return sessionStorage.getItem(key) ?? localStorage.getItem(key);
  } catch {
    return null;
  }
}

/** Has it been chosen in this very tab? Such a choice outweighs what the server was started with. */
export function chosenHere(key: string): boolean {
  try {
    return sessionStorage.getItem(key) !== null;
  } catch {
    return false;
  }
}

export function remember(key: string, value: string | null): void {
  try {
    for (const storage of [sessionStorage, localStorage]) {
      if (value === null) storage.removeItem(key);
      else storage.setItem(key, value);
    }
  } catch {
    // no storage here: the choice lasts as long as the page
  }
}
