// The part of anywidget's contract (https://anywidget.dev/en/afm/) that these modules use.

export interface Model<Traits> {
  get<Name extends keyof Traits & string>(name: Name): Traits[Name];
  set<Name extends keyof Traits & string>(name: Name, value: Traits[Name]): void;
  save_changes(): void;
  on(event: string, callback: (content: unknown, buffers?: readonly DataView[]) => void): void;
  off(event: string, callback: (content: unknown, buffers?: readonly DataView[]) => void): void;
  send(content: unknown): void;
}

export interface Given<Traits> {
  model: Model<Traits>;
  el: HTMLElement;
}

/** What a module exports: draw into `el`, return how to take it away again. */
export interface Widget<Traits> {
  render(given: Given<Traits>): () => void;
}
