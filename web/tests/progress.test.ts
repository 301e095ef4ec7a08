import { describe, expect, it } from "vitest";
import { after, csv, merged, packed, parsed, unpacked, type Progress } from "../src/exercise/progress.svelte";

const at = "2026-11-30T06:04:41.000Z";
const all: Progress = { "first-token-out": { right: true, tries: 2, at }, "row-sum": { right: false, tries: 1, at } };

describe("progress", () => {
  it("goes through the cookie and back", () => {
    expect(unpacked(packed(all))).toEqual(all);
    expect(packed(all).length).toBeLessThan(60);
    expect(packed(all)).toMatch(/^[\w.~-]+$/); // nothing that a cookie would need quoted
  });
  it("reads nothing from a cookie or a storage that somebody else wrote", () => {
    for (const text of ["", "x", "a.2.1.z", "a.1.0.z", "<b>.1.1.z", "a.1.1.zzzzzzzzzzzzz"]) expect(unpacked(text)).toEqual({});
    expect(unpacked("a.1.1.zzzzzzzz")["a"]?.right).toBe(true); // a date far off, but a date
    for (const text of [null, "", "[]", "3", '{"a":1}', '{"a":{"right":1,"tries":1,"at":"x"}}', '{"a":{"right":true,"tries":0,"at":"2026-01-01"}}']) {
      expect(parsed(text)).toEqual({});
    }
    expect(parsed(JSON.stringify(all))).toEqual(all);
  });
  it("keeps the better known of two states, whichever comes first", () => {
    const tried = { right: false, tries: 3, at };
    const right = { right: true, tries: 4, at };
    for (const [a, b] of [[tried, right], [right, tried]] as const) {
      expect(merged({ x: a }, { x: b })).toEqual({ x: right });
    }
    expect(merged({ x: tried }, { x: { ...tried, tries: 2 }, y: tried })).toEqual({ x: tried, y: tried });
  });
  it("forgets what is older", () => {
    expect(after(Date.parse(at), all)).toEqual(all);
    expect(after(Date.parse(at) + 1, all)).toEqual({});
    expect(after(NaN, all)).toEqual(all);
  });
  it("becomes a table that holds what is still to do", () => {
    const table = csv([{ id: "first-token-out", lesson: 1 }, { id: "heads", lesson: 3 }], all);
    expect(table).toBe(`exercise,lesson,right,tries,at\r\nfirst-token-out,1,1,2,${at}\r\nheads,3,0,0,\r\n`);
  });
});
