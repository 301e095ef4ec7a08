// Places worth seeing in the recording that comes with pozor. The browser tests check that each shows what it says.

export interface Place {
  layer: number;
  head: number;
  query: number;
  what: "pronouns" | "previous" | "repeated";
}

export const SHIPPED = "red-ball";

export const PLACES: readonly Place[] = [
  { what: "pronouns", layer: 13, head: 8, query: 61 },
  { what: "previous", layer: 16, head: 0, query: 30 },
  { what: "repeated", layer: 8, head: 1, query: 55 },
];

/** Where the shipped recording opens when nothing is asked for: a head with something to see, rather than the first. */
export const FIRST = "?layer=13&head=8";

/** What a recording made of arrays alone has for its model. */
export const OWN_ARRAYS = "own arrays";
