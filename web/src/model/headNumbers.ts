// The numbers that heads are told apart by, and the orders they can stand in: names as the address writes them.

export const MEASURES = ["first", "previous", "own", "entropy", "distance", "induction"] as const;
export type Measure = (typeof MEASURES)[number];
/** What is printed under a head: a measure of its own, or what it gives to the locked cell, row or column. */
export const SHOWS = [...MEASURES, "locked"] as const;
export type Shows = (typeof SHOWS)[number];
export const ORDERS = ["layer", "most", "least"] as const;
export type Order = (typeof ORDERS)[number];
