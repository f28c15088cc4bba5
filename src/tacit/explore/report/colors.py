"""The colors of the report, light and dark, and which one each group or value gets.

The 24 categorical colors were chosen in OKLCH for the worst case of normal, deuteranope and
protanope vision, at least 3:1 on the map in light and 4.3:1 in dark; LABELS are the same hues
dark (or light) enough for small type. Groups that touch on the map get the colors that differ
most: a quadratic assignment problem, solved by exchanging pairs (2-opt).
"""

import numpy as np

__all__ = ["LIGHT", "SLOTS", "assign_slots", "color_distances", "colors_css"]


def each_of(colors: str) -> list[str]:
    return colors.split()


LIGHT = each_of(
    "#4868d0 #a42901 #03a879 #905265 #4c39a4 #9f7001 #4b9fb0 #831c70 #d27f05 #03759a #275f01 "
    "#8e83f5 #6e72e1 #a76851 #018e78 #940d3b #6a48b5 #809b01 #008cad #7b3256 #846705 #225187 "
    "#8e9a55 #7692d8"
)
DARK = each_of(
    "#81a2fb #d36d53 #7bdeb4 #c18a99 #7972cd #d1a864 #94d6e5 #b15e9e #fec082 #63a9c9 #618f4e "
    "#c8c7fe #a8b1fe #d9a18d #6dc2ae #c35a6e #9a83e0 #b8d271 #6fc1de #a96986 #b59d5e #5c83b2 "
    "#c6d198 #b7ccff"
)
LABELS_LIGHT = each_of(
    "#334a91 #85311c #005f42 #753a4d #4b438e #694903 #075a68 #773168 #734300 #055874 #2b5e0f "
    "#4b438e #434690 #783d28 #015e4e #842d41 #553f8a #475800 #06596e #7b3256 #634d03 #225187 "
    "#4d560a #344b8c"
)
LABELS_DARK = each_of(
    "#bed0fd #fdc0b0 #98e4c2 #fdbcce #cccbfe #f1cb8d #87e1f4 #f8bbe7 #fac692 #94dcfe #b5dfa5 "
    "#cccbfe #c6cdfd #ffc0ab #8ee5cf #fdbdc6 #d3c8fe #c8db98 #8cdffc #febad7 #e8cf8c #b2d4ff "
    "#ccd995 #bed1fd"
)
RAMP_LIGHT = each_of("#dcd6c6 #b9c7c0 #7fb0b8 #3f83a3 #123f6b")
RAMP_DARK = each_of("#33363b #2f5668 #3c86a0 #7dbcc4 #e4f0d8")
PAGE = {  # light, dark
    "paper": ("#fbfaf7", "#16181b"),
    "surface": ("#ffffff", "#1c1f23"),
    "map": ("#ffffff", "#121417"),
    "ink": ("#1b1d20", "#eceae4"),
    "ink-2": ("#474b52", "#bcbec3"),
    "ink-3": ("#666b73", "#989ca4"),
    "rule": ("#e6e3db", "#2b2f34"),
    "rule-2": ("#c6c2b7", "#474d55"),
    "tint": ("#f2f0ea", "#23272c"),
    "accent": ("#0d5c80", "#7cc3e2"),
    "warn": ("#a1470a", "#f0a35e"),
    "mark": ("#fbe7a8", "#5a4a12"),
    "dim": ("#d3d1cb", "#3a3e44"),
    "land": ("#ece7da", "#262b31"),
}
SLOTS = len(LIGHT)


def colors_css(group_slots: list[int], group_sizes: list[int]) -> str:
    """The variables, and the classes that give kinds and groups their colours."""
    light = variables(0, LIGHT, LABELS_LIGHT, RAMP_LIGHT)
    dark = variables(1, DARK, LABELS_DARK, RAMP_DARK)
    lines = [
        f":root{{{light}}}",
        "@media (prefers-color-scheme:dark){:root:not([data-theme=light])"
        f"{{{dark};color-scheme:dark}}}}",
        f":root[data-theme=dark]{{{dark};color-scheme:dark}}",
        ":root[data-theme=light]{color-scheme:light}",
        f"@media print{{:root,:root:not([data-theme=light]),:root[data-theme=dark]{{{light};"
        "color-scheme:light}}",
        "".join(f".p{i}{{--c:var(--p{i})}}" for i in range(SLOTS)),
        "".join(f".g{i}{{--c:var(--p{slot})}}" for i, slot in enumerate(group_slots)),
        "".join(f".strip a.g{i}{{flex-grow:{size}}}" for i, size in enumerate(group_sizes)),
    ]
    return "\n".join(lines) + "\n"


def variables(which: int, kinds: list[str], labels: list[str], ramp: list[str]) -> str:
    parts = [f"--{name}:{pair[which]}" for name, pair in PAGE.items()]
    for letter, colors in (("p", kinds), ("x", labels), ("r", ramp)):
        parts += [f"--{letter}{i}:{color}" for i, color in enumerate(colors)]
    return ";".join(parts)


# --- Assigning colors ---

FIRST = 12  # slots that differ the most
COMPARED = 3 * SLOTS  # the largest kinds; the others get slots in turn
NEAR = 0.12  # of the map's width: how far apart groups still need to differ
LEGEND = 0.2  # how much any two groups touch: they are together in the legend
CLOSE = 0.1  # distance in OKLab up to which two colors may be confused
LIGHTNESS = 0.6  # how much of a difference in lightness counts: hue is what names a color
WEIGHTS = np.array([0.6, 0.2, 0.2])  # of normal, deuteranope and protanope vision
TO_CONES = np.array([
    [0.4122214708, 0.5363325363, 0.0514459929],
    [0.2119034982, 0.6806995451, 0.1073969566],
    [0.0883024619, 0.2817188376, 0.6299787005],
])  # fmt: skip
TO_LAB = np.array([
    [0.2104542553, 0.793617785, -0.0040720468],
    [1.9779984951, -2.428592205, 0.4505937099],
    [0.0259040371, 0.7827717662, -0.808675766],
])  # fmt: skip
EYES = (  # on linear RGB: normal, deuteranope, protanope (Machado, Oliveira, Fernandes 2009)
    np.eye(3),
    np.array([[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
              [-0.01182, 0.04294, 0.968881]]),
    np.array([[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
              [-0.003882, -0.048116, 1.051998]]),
)  # fmt: skip


def color_distances(colors: list[str], lightness: float = 1.0) -> np.ndarray:
    """How different colors look in normal, deuteranope and protanope vision, in OKLab:
    (3, colors, colors).

    >>> color_distances(["#000000", "#ffffff"])[:, 0, 1].round(2).tolist()
    [1.0, 1.0, 1.0]
    """
    coded = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in colors])
    linear = np.where(coded <= 0.04045, coded / 12.92, ((coded + 0.055) / 1.055) ** 2.4)
    distances = []
    for eye in EYES:
        lab = np.cbrt(np.clip(linear @ eye.T, 0, 1) @ TO_CONES.T) @ TO_LAB.T
        lab[:, 0] *= lightness
        distances.append(np.linalg.norm(lab[:, None] - lab[None], axis=2))
    return np.stack(distances)


def assign_slots(points: np.ndarray, labels: np.ndarray, kinds: int) -> list[int]:
    """A slot of the palette for every kind of document. Past 24 kinds slots repeat.

    ``points`` are (n, 2) in the unit square.
    """
    from scipy.optimize import quadratic_assignment

    sizes = np.bincount(labels, minlength=kinds)
    sums = np.stack([np.bincount(labels, points[:, j], minlength=kinds) for j in (0, 1)], 1)
    centers = sums / np.maximum(sizes, 1)[:, None]
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=2)
    touch = LEGEND + 0.25 * np.exp(-apart / NEAR) + overlap_in_cells(points, labels, kinds)
    np.fill_diagonal(touch, 0)
    confusions = np.exp(-color_distances(LIGHT, LIGHTNESS) / CLOSE)
    confused = np.tensordot(WEIGHTS, confusions, axes=1)
    np.fill_diagonal(confused, 3.0)
    some = np.argsort(-sizes, kind="stable")[:COMPARED]
    n = max(len(some), FIRST if kinds <= FIRST else SLOTS)
    dealt = np.arange(n) % SLOTS
    weights = np.zeros((n, n))  # slots without a kind touch nothing
    weights[: len(some), : len(some)] = touch[np.ix_(some, some)]
    start = np.column_stack([np.arange(n), np.arange(n)])
    best = quadratic_assignment(
        weights, confused[np.ix_(dealt, dealt)], method="2opt",
        options={"partial_guess": start, "rng": np.random.default_rng(0)},
    )  # fmt: skip
    slots = np.arange(kinds) % SLOTS
    slots[some] = dealt[best.col_ind[: len(some)]]
    return slots.tolist()


def overlap_in_cells(points: np.ndarray, labels: np.ndarray, kinds: int, cells: int = 48):
    """How much kinds overlap in the cells of a grid over the map."""
    if not len(points):
        return np.zeros((kinds, kinds))
    at = np.clip((points * cells).astype(int), 0, cells - 1)
    table = np.zeros((cells * cells, kinds))
    np.add.at(table, (at[:, 1] * cells + at[:, 0], labels), 1)
    table /= np.maximum(np.linalg.norm(table, axis=0), 1)
    return table.T @ table
