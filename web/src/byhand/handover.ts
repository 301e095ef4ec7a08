// A state on its way from the page of one example to the page of the other, when a file holds the other kind.
import type { State } from "../engine/state";

let waiting: { state: State; name: string } | null = null;

export function handOver(state: { state: State; name: string }): void {
  waiting = state;
}

export function takeOver(): { state: State; name: string } | null {
  const handed = waiting;
  waiting = null;
  return handed;
}
