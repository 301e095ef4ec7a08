"""A picture with its text alternative; the marks that several pictures share."""

from html import escape

INK = "currentColor"
SIGNAL = "var(--pozor-signal, #c2410c)"
HAIRLINE = "var(--pozor-rule, #a8a49b)"
SANS = "inherit"


def picture(body: str, *, width: int, height: int, alternative: str, largest: int = 440) -> str:
    """An SVG of `width` × `height` units, as wide as its column but at most `largest` pixels."""
    return (
        f'<figure class="pozor-figure" style="margin:8px 0;max-width:{largest}px">'
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(alternative)}" '
        f'style="display:block;width:100%;height:auto" fill="none" font-size="13">{body}</svg></figure>'
    )


def text(
    x: float, y: float, words: str, *, anchor: str = "start", colour: str = INK, weight: int = 400
) -> str:
    """Words at a point."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-weight="{weight}">'
        f"{escape(words)}</text>"
    )


def line(
    x1: float, y1: float, x2: float, y2: float, *, colour: str = INK, width: float = 1.5, dashes: str = ""
) -> str:
    """A straight line."""
    dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
    return (
        f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
        f'stroke-width="{width:.2f}" stroke-linecap="round"{dashed}/>'
    )


def circle(
    x: float, y: float, radius: float, *, colour: str = INK, fill: str = "none", width: float = 1.5
) -> str:
    """A circle."""
    return (
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius:.1f}" stroke="{colour}" fill="{fill}" '
        f'stroke-width="{width:.2f}"/>'
    )


def path(d: str, *, colour: str = INK, width: float = 1.5, fill: str = "none") -> str:
    """A path as SVG writes it."""
    return (
        f'<path d="{d}" stroke="{colour}" stroke-width="{width:.2f}" fill="{fill}" stroke-linecap="round" '
        'stroke-linejoin="round"/>'
    )


def arrow(
    x: float, y: float, to_x: float, to_y: float, *, colour: str = INK, width: float = 2, dashes: str = ""
) -> str:
    """A line with a head at its end."""
    dx, dy = to_x - x, to_y - y
    length = (dx * dx + dy * dy) ** 0.5 or 1.0
    ux, uy = dx / length, dy / length
    left = (to_x - 9 * ux + 4.5 * uy, to_y - 9 * uy - 4.5 * ux)
    right = (to_x - 9 * ux - 4.5 * uy, to_y - 9 * uy + 4.5 * ux)
    head = f"M{left[0]:.1f} {left[1]:.1f} L{to_x:.1f} {to_y:.1f} L{right[0]:.1f} {right[1]:.1f}"
    return line(x, y, to_x, to_y, colour=colour, width=width, dashes=dashes) + path(
        head, colour=colour, width=width
    )
