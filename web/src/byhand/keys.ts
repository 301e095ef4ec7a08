// Ctrl and an arrow move between numbers: within a matrix, and from its edge to the next one.

/** Moves the focus from the input of the event; the neighbour is the nearest number in that direction. */
export function step(event: KeyboardEvent & { currentTarget: HTMLInputElement }): void {
  const from = event.currentTarget;
  const direction = { ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] }[event.key];
  const root = from.closest("[data-line]");
  if (direction === undefined || root === null) return;
  event.preventDefault();
  const [dx = 0, dy = 0] = direction;
  const here = middle(from);
  let best: HTMLInputElement | null = null;
  let least = Infinity;
  for (const input of root.querySelectorAll<HTMLInputElement>("input[data-id]")) {
    const there = middle(input);
    const along = (there.x - here.x) * dx + (there.y - here.y) * dy;
    const across = Math.abs((there.x - here.x) * dy) + Math.abs((there.y - here.y) * dx);
    const cost = along + 4 * across;
    if (along > 4 && cost < least) [best, least] = [input, cost];
  }
  best?.focus();
}

function middle(element: Element): { x: number; y: number } {
  const box = element.getBoundingClientRect();
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}
