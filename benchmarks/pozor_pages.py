"""What pozor's own map page shows of itself to a measurement."""

from playwright.sync_api import Page

# the map says what it has drawn: name, zoom, coarse or fine, how many tiles
DRAWN = r"/\|(coarse|fine)\|[1-9]/.test(document.querySelector('.host')?.dataset.drawn ?? '')"
MAP = "[role=application]"  # the element that shows it, without legend and axes
EXACT = ".host[data-drawn*='|fine|']"  # with a progress bar inside while that is a preview

# one time for each frame in which WebGL, or the canvas that stands in for it, drew
DRAWS = """(() => {
  window.drawnFrames = [];
  let noted = false;
  const note = () => {
    if (noted) return;
    noted = true;
    requestAnimationFrame((at) => { noted = false; window.drawnFrames.push(at) });
  };
  const wrap = (kind, name) => {
    const real = kind.prototype[name];
    kind.prototype[name] = function (...rest) { note(); return real.apply(this, rest) };
  };
  wrap(WebGL2RenderingContext, 'drawArrays');
  wrap(WebGL2RenderingContext, 'drawElements');
  wrap(CanvasRenderingContext2D, 'drawImage');
  wrap(CanvasRenderingContext2D, 'putImageData');
})()"""


def count_draws(page: Page) -> None:
    """Have the page keep, in `drawnFrames`, when each frame came in which a canvas was drawn."""
    page.add_init_script(DRAWS)


# keeps the worker that a single file computes in
ENGINE = (
    "window.Worker = class extends Worker { constructor(...given) { super(...given); window.engine = this } }"
)

ASK = """([n, ask, given]) => new Promise((resolve, reject) => {
  const started = performance.now();
  const hear = ({ data }) => {
    if (data.n !== n) return;
    window.engine.removeEventListener('message', hear);
    if ('error' in data) return reject(new Error(data.error));
    resolve([performance.now() - started, data.preview, data.payload.byteLength]);
  };
  window.engine.addEventListener('message', hear);
  window.engine.postMessage({ n, ask, given });
})"""


def keep_engine(page: Page) -> None:
    """Have a single file's page keep its worker, so that `ask_engine` reaches it."""
    page.add_init_script(ENGINE)


def ask_engine(page: Page, n: int, ask: str, given: dict[str, str]) -> tuple[float, bool, int]:
    """Milliseconds until the engine answers with a payload, whether it is a preview, and its bytes."""
    milliseconds, preview, nbytes = page.evaluate(ASK, [n, ask, given])
    return milliseconds, preview, nbytes
