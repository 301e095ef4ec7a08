// The part of anywidget's contract (https://anywidget.dev/en/afm/) that these modules use.

/** What Jupyter Lab knows of the process behind its widgets; other hosts give no such thing. */
export interface Kernel {
  status?: string;
  isDisposed?: boolean;
}

export interface Model<Traits> {
  get<Name extends keyof Traits & string>(name: Name): Traits[Name];
  set<Name extends keyof Traits & string>(name: Name, value: Traits[Name]): void;
  save_changes(): void;
  on(event: string, callback: (content: unknown, buffers?: readonly DataView[]) => void): void;
  off(event: string, callback: (content: unknown, buffers?: readonly DataView[]) => void): void;
  send(content: unknown): void;
  widget_manager?: { kernel?: Kernel | null };
}

export interface Given<Traits> {
  model: Model<Traits>;
  el: HTMLElement;
}

/** What a module exports: draw into `el`, return how to take it away again. */
export interface Widget<Traits> {
  render(given: Given<Traits>): () => void;
}
