// The traits of the Python object as reactive state.
import type { Model } from "./model";

export class Followed<Traits extends object> {
  now: Traits;
  private readonly stops: (() => void)[];

  constructor(
    private readonly model: Model<Traits>,
    names: readonly (keyof Traits & string)[],
  ) {
    this.now = $state.raw(Object.fromEntries(names.map((name) => [name, model.get(name)])) as Traits);
    this.stops = names.map((name) => {
      const changed = (): void => {
        this.now = { ...this.now, [name]: model.get(name) };
      };
      model.on(`change:${name}`, changed);
      return () => model.off(`change:${name}`, changed);
    });
  }

  /** Set a trait here and in Python. */
  set<Name extends keyof Traits & string>(name: Name, value: Traits[Name]): void {
    this.model.set(name, value);
    this.model.save_changes();
  }

  /** Set several at once: Python judges them together. */
  setAll(values: Partial<Traits>): void {
    const names = Object.keys(values) as (keyof Traits & string)[];
    for (const name of names) this.model.set(name, values[name] as Traits[typeof name]);
    if (names.length > 0) this.model.save_changes();
  }

  stop(): void {
    for (const stop of this.stops) stop();
  }
}
