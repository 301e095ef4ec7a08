import { describe, expect, it, vi } from "vitest";
import { Refused } from "../src/exercise/serve";
import { channel } from "../src/widget/channel";
import { ofColour } from "../src/widget/host";
import type { Model } from "../src/widget/model";

/** A notebook's side of the channel that answers when it is told to. */
function notebook(): { model: Model<object>; sent: { serve: number; message: unknown }[]; say: (content: unknown) => void } {
  const sent: { serve: number; message: unknown }[] = [];
  const heard: ((content: unknown) => void)[] = [];
  const model: Model<object> = {
    get: () => undefined as never,
    set: () => undefined,
    save_changes: () => undefined,
    on: (_, callback) => void heard.push(callback),
    off: (_, callback) => void heard.splice(heard.indexOf(callback), 1),
    send: (content) => void sent.push(content as { serve: number; message: unknown }),
  };
  return { model, sent, say: (content) => heard.forEach((one) => one(content)) };
}

describe("the channel of a widget", () => {
  it("gives each question its own answer, in whatever order they come", async () => {
    const { model, sent, say } = notebook();
    const { serve } = channel(model);
    const first = serve<"hint">({ ask: "hint", id: "a", seed: null, lang: "cs", number: 0 });
    const second = serve<"hint">({ ask: "hint", id: "a", seed: null, lang: "cs", number: 1 });
    expect(sent[0]?.message).toEqual({ ask: "hint", id: "a", seed: null, lang: "cs", number: 0 });
    say({ serve: sent[1]?.serve, answer: { number: 1 } });
    say({ serve: "x", answer: 1 });
    say(null);
    say({ serve: sent[0]?.serve, answer: { number: 0 } });
    expect([await first, await second]).toEqual([{ number: 0 }, { number: 1 }]);
  });
  it("says why a question is refused, and does not wait for ever", async () => {
    vi.useFakeTimers();
    const { model, sent, say } = notebook();
    const { serve } = channel(model, 1000);
    const refused = serve<"list">({ ask: "list", lang: "en" });
    say({ serve: sent[0]?.serve, answer: { error: "There is none." } });
    await expect(refused).rejects.toThrow(new Refused("There is none."));
    const silent = serve<"list">({ ask: "list", lang: "en" });
    const told = expect(silent).rejects.toThrow("silent");
    vi.advanceTimersByTime(1001);
    await told;
    vi.useRealTimers();
  });
});

describe("the page around a widget", () => {
  it("is as dark as what is behind", () => {
    expect(ofColour([255, 255, 255, 255])).toBe("light");
    expect(ofColour([24, 28, 26, 255])).toBe("dark");
    expect(ofColour([0, 0, 0, 0])).toBeNull();
  });
});
