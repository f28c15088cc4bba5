"""The colors of all pictures."""

__all__ = ["FAINT", "NEUTRAL", "PALETTE", "darker"]

# Tol's "muted" scheme: nine colors that remain distinct to color-blind eyes, on white.
PALETTE = (
    "#CC6677", "#332288", "#DDAA33", "#117733", "#88CCEE", "#882255", "#44AA99", "#999933",
    "#AA4499",
)  # fmt: skip
NEUTRAL = "#4D4D4D"  # what belongs to no cluster
FAINT = "#DDDDDD"  # grids and frames


def darker(color: str) -> str:
    """The same hue, dark enough for small type on white.

    >>> darker("#88CCEE")
    '#558095'
    """
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    share = 0.63 if 0.299 * red + 0.587 * green + 0.114 * blue > 110 else 1.0
    return "#" + "".join(f"{int(share * part):02x}" for part in (red, green, blue))
