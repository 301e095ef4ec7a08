import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { channelSource, type Line } from "../src/widget/channelSource";
import type { Kernel, Model } from "../src/widget/model";

const KEY = { item: 0, layer: 3, kind: "self", head: 5, variant: "recorded", derived: "" } as const;

/** A notebook's side of the channel that answers when it is told to. */
class Notebook {
  sent: unknown[] = [];
  heard = new Map<string, ((content: unknown, buffers?: readonly DataView[]) => void)[]>();
  broken = false;
  kernel: Kernel | null = null;
  readonly model: Model<object>;

  constructor() {
    const listeners = (event: string) => this.heard.get(event) ?? [];
    const notebook = this;
    this.model = {
      get: () => undefined as never,
      set: () => undefined,
      save_changes: () => undefined,
      on: (event, callback) => void this.heard.set(event, [...listeners(event), callback]),
      off: (event, callback) => void this.heard.set(event, listeners(event).filter((one) => one !== callback)),
      send: (content) => {
        if (this.broken) throw new Error("Cannot send");
        this.sent.push(content);
      },
      get widget_manager() {
        return { kernel: notebook.kernel };
      },
    };
  }
  tell(event: string, content: unknown = null, body?: Uint8Array): void {
    const buffers = body === undefined ? [] : [new DataView(body.buffer, body.byteOffset, body.byteLength)];
    for (const one of this.heard.get(event) ?? []) one(content, buffers);
  }
  answer(head: object, body?: Uint8Array): void {
    this.tell("msg:custom", head, body);
  }
  get questions(): { n: number; ask: string; given: Record<string, string> }[] {
    return this.sent.filter((one) => Array.isArray(one)).flat() as never;
  }
  numberOf(index: number): number {
    const n = this.questions[index]?.n;
    if (n === undefined) throw new Error(`there is no question ${index}`);
    return n;
  }
}

const json = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value));
const deflated = async (body: Uint8Array): Promise<Uint8Array> => {
  const stream = new Blob([body as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
};
const turn = (): Promise<void> => Promise.resolve().then(() => undefined);

describe("the notebook's source", () => {
  it("asks several things of one turn in one message and gives each its answer", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    const [row, column] = [source.row(KEY, 7, [5, 9]), source.column(KEY, 2)];
    await turn();
    expect(notebook.sent).toHaveLength(1);
    expect(notebook.questions.map(({ ask, given }) => [ask, given])).toEqual([
      ["row", { item: "0", layer: "3", kind: "self", head: "5", variant: "recorded", query: "7", hidden: "5,9" }],
      ["column", { item: "0", layer: "3", kind: "self", head: "5", variant: "recorded", key: "2" }],
    ]);
    notebook.answer({ n: notebook.numberOf(1), document: true }, json({ key: 2 }));
    notebook.answer({ n: notebook.numberOf(0), document: true }, json({ query: 7 }));
    expect([await row, await column]).toEqual([{ query: 7 }, { key: 2 }]);
    stop();
  });

  it("puts parts together in any order, and unpacks what is packed", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    const probs = Array.from({ length: 5000 }, (_, i) => i / 7);
    const asked = source.row(KEY, 0, []);
    await turn();
    const body = await deflated(json({ probs }));
    const half = Math.floor(body.length / 2);
    const head = { n: notebook.numberOf(0), document: true, packed: true, of: 2 };
    notebook.answer({ ...head, part: 1 }, body.slice(half));
    notebook.answer({ ...head, part: 0 }, body.slice(0, half));
    expect(await asked).toEqual({ probs });
    stop();
  });

  it("reads tiles out of a view into a larger buffer, preview or not", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    const asked = source.tile(KEY, "prob", "max", { zoom: 0, row: 0, column: 0 });
    await turn();
    const large = new Uint8Array(3 + 65_536 * 5);
    new DataView(large.buffer).setFloat32(3 + 4, 0.25, true);
    notebook.answer({ n: notebook.numberOf(0), payload: true, preview: true }, large.subarray(3));
    const tile = await asked;
    expect([tile.values[0], tile.values[1], tile.preview]).toEqual([0, 0.25, true]);
    stop();
  });

  it("says why a question is refused", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    const asked = source.column(KEY, 99);
    await turn();
    notebook.answer({ n: notebook.numberOf(0), error: "key must be below 9.", status: 404 });
    await expect(asked).rejects.toMatchObject({ status: 404, message: "key must be below 9." });
    stop();
  });

  it("sends what nobody waits for any more as dropped, or not at all", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    const [early, late] = [new AbortController(), new AbortController()];
    const never = source.column(KEY, 1, early.signal);
    early.abort();
    await expect(never).rejects.toMatchObject({ name: "AbortError" });
    await turn();
    expect(notebook.sent).toEqual([]);
    const dropped = source.column(KEY, 2, late.signal);
    await turn();
    late.abort();
    await expect(dropped).rejects.toMatchObject({ name: "AbortError" });
    await turn();
    expect(notebook.sent[1]).toEqual({ cancel: [notebook.numberOf(0)] });
    notebook.answer({ n: notebook.numberOf(0), document: true }, json({})); // too late: nobody listens
    stop();
    expect([...notebook.heard.values()].flat()).toEqual([]);
  });

  it("lets other messages pass, and takes its leave of what waits", async () => {
    const notebook = new Notebook();
    const { source, stop } = channelSource(notebook.model);
    void source.column(KEY, 1);
    await turn();
    for (const content of [null, 3, "x", {}, { n: "1" }, { kind: "anywidget-command-response" }]) notebook.answer(content as object);
    stop();
    expect(notebook.sent.at(-1)).toEqual({ cancel: [notebook.numberOf(0)] });
  });
});

describe("the line to Python", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] }));
  afterEach(() => void vi.useRealTimers());

  it("is late while nothing comes, and well again with the answer", async () => {
    const notebook = new Notebook();
    const told: Line[] = [];
    const { source, stop } = channelSource(notebook.model, (line) => told.push(line), 3000);
    const asked = source.column(KEY, 1);
    await turn();
    vi.advanceTimersByTime(2900);
    expect(told).toEqual([]);
    vi.advanceTimersByTime(2000);
    expect(told).toEqual(["late"]);
    notebook.answer({ n: notebook.numberOf(0), document: true }, json({ key: 1 }));
    await expect(asked).resolves.toEqual({ key: 1 });
    expect(told).toEqual(["late", "well"]);
    vi.advanceTimersByTime(60_000); // nothing waits: nothing is late
    expect(told).toHaveLength(2);
    stop();
  });

  it.each<[string, (notebook: Notebook) => void]>([
    ["the channel is closed", (notebook) => notebook.tell("comm:close")],
    ["the kernel is restarted", (notebook) => notebook.tell("comm_live_update")],
    ["the kernel is shut down", (notebook) => void (notebook.kernel = null)],
    ["the kernel has died", (notebook) => void (notebook.kernel = { status: "dead" })],
  ])("is gone when %s", async (_, ends) => {
    const notebook = new Notebook();
    notebook.kernel = { status: "idle", isDisposed: false };
    const told: Line[] = [];
    const { stop } = channelSource(notebook.model, (line) => told.push(line));
    ends(notebook);
    vi.advanceTimersByTime(1100);
    expect(told).toEqual(["gone"]);
    stop();
  });

  it("is gone when sending fails", async () => {
    const notebook = new Notebook();
    const told: Line[] = [];
    const { source, stop } = channelSource(notebook.model, (line) => told.push(line));
    notebook.broken = true;
    void source.column(KEY, 1);
    await turn();
    expect(told).toEqual(["gone"]);
    stop();
  });
});
