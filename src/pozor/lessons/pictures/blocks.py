"""The row that is read in blocks: what each key adds to the sum, relative to the largest logit so far."""

from collections.abc import Sequence

from pozor.lessons.pictures.svg import HAIRLINE, INK, SIGNAL, line, picture, text

WIDTH, HEIGHT, FOOT, TOP = 360, 170, 138, 26


def blocks(
    heights: Sequence[float],
    written: Sequence[str],
    logits: Sequence[str],
    read: int,
    block: int,
    alternative: str,
) -> str:
    """Upright bars; those read are filled, the latest block in the signal colour, the rest outlined.

    Args:
        heights: e to (logit − m) of each key; 1 is the full height. Of keys not read yet too.
        written: What stands above a bar that is read.
        logits: What stands below each.
        read: How many keys have been read.
        block: Keys a block.
        alternative: The picture in words.
    """
    step = WIDTH / len(heights)
    body = [line(6, FOOT, WIDTH - 6, FOOT, colour=HAIRLINE, width=1)]
    for key, (height, said, logit) in enumerate(zip(heights, written, logits)):
        x = step * (key + 0.5)
        tall = max(1.0, (FOOT - TOP) * min(height, 1.0))
        latest = read - block <= key < read
        colour = SIGNAL if latest else INK
        if key < read:
            body.append(
                f'<rect x="{x - 22:.1f}" y="{FOOT - tall:.1f}" width="44" height="{tall:.1f}" '
                f'fill="{colour}"/>'
            )
            body.append(text(x, FOOT - tall - 6, said, anchor="middle", colour=colour))
        else:
            body.append(
                f'<rect x="{x - 22:.1f}" y="{FOOT - 26:.1f}" width="44" height="26" stroke="{HAIRLINE}" '
                'stroke-width="1.5" stroke-dasharray="4 4"/>'
            )
        body.append(text(x, FOOT + 18, logit, anchor="middle"))
    for edge in range(block, len(heights), block):
        body.append(
            line(step * edge, TOP - 14, step * edge, HEIGHT - 4, colour=HAIRLINE, width=1, dashes="3 5")
        )
    return picture("".join(body), width=WIDTH, height=HEIGHT, alternative=alternative)
