// The address after #: which page is open and its state. Everything the page shows can be restored from it.

export type Route =
  | { page: "home" }
  | { page: "paper" | "pub" | "live"; query: URLSearchParams }
  | { page: "map" | "exercise"; id: string; query: URLSearchParams }
  | { page: "exercises" }
  | { page: "lost"; path: string };

export function parse(fragment: string): Route {
  const [path = "", search = ""] = fragment.replace(/^#/, "").split(/\?(.*)/s);
  const parts = path.split("/").filter((part) => part !== "");
  const query = new URLSearchParams(search);
  const [first, second] = parts;
  if (first === undefined) return { page: "home" };
  if ((first === "paper" || first === "pub" || first === "live") && parts.length === 1) return { page: first, query };
  if (first === "exercises" && parts.length === 1) return { page: "exercises" };
  if ((first === "map" || first === "exercise") && second !== undefined && parts.length === 2) {
    return { page: first, id: second, query };
  }
  return { page: "lost", path };
}

export function address(path: string, query?: URLSearchParams): string {
  const search = query?.toString() ?? "";
  return `#${path}${search === "" ? "" : `?${search}`}`;
}

const fragment = (): string => (typeof location === "undefined" ? "" : location.hash);
const state = $state<{ route: Route }>({ route: parse(fragment()) });

export const router = {
  get route(): Route {
    return state.route;
  },
};

export function startRouter(): void {
  addEventListener("hashchange", () => {
    state.route = parse(fragment());
  });
}

/** Write the state of the open page into the address without a new page or history entry. */
export function keep(path: string, query: URLSearchParams): void {
  const wanted = address(path, query);
  if (location.hash !== wanted) history.replaceState(history.state, "", wanted);
}
