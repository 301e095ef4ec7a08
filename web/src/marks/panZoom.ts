// Pan and zoom of the map by pointer, wheel and touch (d3-zoom), with the matrix' corner kept at the window's.
import { select } from "d3-selection";
import { zoom, zoomIdentity, type D3ZoomEvent, type ZoomBehavior } from "d3-zoom";
import { home } from "../scales/tileGrid";
import type { Look } from "../model/mapAddress";

const LARGEST = 112; // CSS pixels a cell

/** `cell` CSS pixels a cell, the matrix' corner at (x, y). */
export interface View {
  cell: number;
  x: number;
  y: number;
}

export class PanZoom {
  private readonly behaviour: ZoomBehavior<HTMLElement, unknown>;
  private size = { width: 1, height: 1, queries: 1, keys: 1 };
  private view: View = { cell: 1, x: 0, y: 0 };
  private said: Look | null = null; // the look that the others know of

  /**
   * `moved` hears of every new view, `looked` only of those the reader asked for: null = the whole map.
   * Without `wheelAtOnce` the wheel scrolls the page, until Ctrl is held or the map has the focus.
   */
  constructor(
    private readonly port: HTMLElement,
    moved: (view: View) => void,
    private readonly looked: (look: Look | null) => void,
    wheelAtOnce = true,
  ) {
    const zooms = (event: WheelEvent): boolean => wheelAtOnce || event.ctrlKey || event.metaKey || port.matches(":focus-within");
    this.behaviour = zoom<HTMLElement, unknown>()
      .filter((event: MouseEvent) => (event.type === "wheel" ? zooms(event as WheelEvent) : !event.ctrlKey && !event.button)) // a touch has no button
      .constrain((transform) => {
        const fit = (offset: number, extent: number, length: number): number =>
          Math.min(0, Math.max(offset, extent - transform.k * length));
        const { width, height, queries, keys } = this.size;
        return zoomIdentity
          .translate(fit(transform.x, width, keys), fit(transform.y, height, queries))
          .scale(transform.k);
      })
      .on("zoom", ({ transform, sourceEvent }: D3ZoomEvent<HTMLElement, unknown>) => {
        this.view = { cell: transform.k, x: transform.x, y: transform.y };
        moved(this.view);
        if (sourceEvent !== null) this.report();
      });
    select(port).call(this.behaviour).on("dblclick.zoom", null);
  }

  /** A new size of window or matrix: the whole map stays whole, another look keeps its middle. */
  fit(width: number, height: number, queries: number, keys: number, look: Look | null): void {
    this.size = { width, height, queries, keys };
    this.said = look;
    const whole = this.whole;
    const most = Math.max(LARGEST, whole.cell);
    this.behaviour.extent([
      [0, 0],
      [width, height],
    ]);
    this.behaviour.scaleExtent([whole.cell, most]);
    if (look === null) return this.go(whole);
    const cell = Math.min(Math.max(look.cell, whole.cell), most);
    this.go({ cell, x: width / 2 - look.key * cell, y: height / 2 - look.query * cell });
  }

  /** A look that came from elsewhere: from Python, from a link. */
  follow(look: Look | null): void {
    const known = this.said;
    if (look === known) return;
    const same = (one: number, other: number): boolean => Math.abs(one - other) < 0.02; // links round
    if (look !== null && known !== null && same(look.cell / known.cell, 1) && same(look.query, known.query) && same(look.key, known.key)) return;
    const { width, height, queries, keys } = this.size;
    this.fit(width, height, queries, keys, look);
  }

  panBy(dx: number, dy: number): void {
    if (dx === 0 && dy === 0) return;
    select(this.port).call(this.behaviour.translateBy, dx / this.view.cell, dy / this.view.cell);
    this.report();
  }

  zoomBy(factor: number, centre: [number, number]): void {
    select(this.port).call(this.behaviour.scaleBy, factor, centre);
    this.report();
  }

  /** Bring a place to the middle. */
  centre(query: number, key: number, cell: number): void {
    const { width, height } = this.size;
    this.go({ cell, x: width / 2 - key * cell, y: height / 2 - query * cell });
    this.report();
  }

  home(): void {
    this.go(this.whole);
    this.report();
  }

  dispose(): void {
    select(this.port).on(".zoom", null);
  }

  private get whole(): View {
    const { width, height, queries, keys } = this.size;
    return home(width, height, queries, keys, LARGEST);
  }

  private go({ x, y, cell }: View): void {
    select(this.port).call(this.behaviour.transform, zoomIdentity.translate(x, y).scale(cell));
  }

  private report(): void {
    const { cell, x, y } = this.view;
    const { width, height } = this.size;
    const whole = Math.abs(cell / this.whole.cell - 1) < 1e-3;
    this.said = whole ? null : { cell, query: (height / 2 - y) / cell, key: (width / 2 - x) / cell };
    this.looked(this.said);
  }
}
