// What an edit changed flashes once, travelling to the right: one veil a matrix, cut to the changed numbers. Only its
// opacity moves, so that nothing is painted again while it fades, however many numbers there are.
import { STAGES, type Stage } from "../engine/address";

const FLASH_MS = 300; // half of it is seen
const STAGGER_MS = 40; // from a stage to the next

export function flash(line: HTMLElement, keys: readonly string[]): void {
  for (const veil of line.querySelectorAll(".flash")) veil.remove();
  if (keys.length === 0 || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const changed = new Set(keys);
  const stages = STAGES.filter((stage) => keys.some((key) => key.startsWith(`${stage}.`)));
  const found = [...line.querySelectorAll<HTMLElement>("figure[data-stage]")].map((figure) => ({
    figure,
    origin: figure.getBoundingClientRect(),
    cells: [...figure.querySelectorAll<HTMLInputElement>("input[data-id]")].flatMap((input) => {
      const key = input.dataset["id"] ?? "";
      return changed.has(key) ? [{ key, box: input.getBoundingClientRect() }] : [];
    }),
  }));
  const total = FLASH_MS + (stages.length - 1) * STAGGER_MS;
  const veils: HTMLElement[] = [];
  for (const { figure, origin, cells } of found) {
    if (cells.length === 0) continue;
    const veil = document.createElement("div");
    veil.className = "flash";
    veil.dataset["cells"] = cells.map(({ key }) => key).join(" ");
    const holes = cells.map(({ box }) => `M${box.x - origin.x} ${box.y - origin.y}h${box.width}v${box.height}h${-box.width}z`);
    veil.style.clipPath = `path("${holes.join("")}")`;
    figure.append(veil);
    const start = (stages.indexOf(figure.dataset["stage"] as Stage) * STAGGER_MS) / total;
    const motion = veil.animate(
      [
        { opacity: 0 },
        { opacity: 0, offset: start },
        { opacity: 0.35, offset: start, easing: "ease-out" },
        { opacity: 0, offset: Math.min(1, start + FLASH_MS / total) },
        { opacity: 0 },
      ],
      { duration: total, id: "flash" },
    );
    // all begin and end together: each one that goes costs a picture of the page
    veils.push(veil);
    if (veils.length === 1) motion.onfinish = () => veils.forEach((one) => one.remove());
  }
}
