"""The colours of the report, light and dark, as the variables its style sheet uses.

The 24 colours for kinds were chosen in OKLCH for the worst case of normal, deuteranope and
protanope eyes, at least 3:1 on the map in light and 4.3:1 in dark; LABELS are the same hues
dark (or light) enough for small type.
"""

__all__ = ["LIGHT", "SLOTS", "colors_css"]


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
