// Combinations of heads, read from and written into the address as docs/contracts.md writes them.

/** A head among those of one kind (self or cross); written as layer.head. */
export interface HeadName {
  layer: number;
  head: number;
}

export type Derived =
  | { how: "mean" | "max"; heads: HeadName[] }
  | { how: "less"; head: HeadName; recording: string | null } // the head shown less this one; null: of the same recording
  | { how: "masked" }; // the head shown under its mask less the same without it

export const nameOf = ({ layer, head }: HeadName): string => `${layer}.${head}`;

export const same = (one: HeadName, other: HeadName): boolean => one.layer === other.layer && one.head === other.head;

export function writeDerived(derived: Derived): string {
  if (derived.how === "masked") return "minus:unmasked";
  if (derived.how === "less") {
    return `minus:${nameOf(derived.head)}${derived.recording === null ? "" : `@${derived.recording}`}`;
  }
  return `${derived.how}:${derived.heads.map(nameOf).join(",")}`;
}

/** null: no combination, or one that is not written as it should be. */
export function parseDerived(text: string): Derived | null {
  const [, how = "", of = ""] = /^(mean|max|minus):(.+)$/.exec(text) ?? [];
  if (how === "minus") {
    if (of === "unmasked") return { how: "masked" };
    const [name = "", recording = null] = of.split("@", 2);
    const head = parseHead(name);
    return head === null ? null : { how: "less", head, recording };
  }
  if (how !== "mean" && how !== "max") return null;
  const heads = of.split(",").map(parseHead);
  return heads.every((head) => head !== null) ? { how, heads } : null;
}

function parseHead(text: string): HeadName | null {
  const found = /^(\d{1,9})\.(\d{1,9})$/.exec(text);
  return found === null ? null : { layer: Number(found[1]), head: Number(found[2]) };
}

/**
 * What becomes of a combination when another head is opened. A mean or a largest is of its own heads, so the head alone
 * is shown; a difference goes on with the new head, and that of two recordings compares the same head in both.
 */
export function carried(text: string, from: HeadName, to: HeadName): string {
  const derived = parseDerived(text);
  if (derived === null || "heads" in derived) return "";
  if (derived.how === "masked") return text;
  if (derived.recording === null) return same(derived.head, to) ? "" : text;
  return same(derived.head, from) ? writeDerived({ ...derived, head: to }) : text;
}
