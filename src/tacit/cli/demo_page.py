"""The page that ``tacit demo docstrings`` ends with."""

from typing import TYPE_CHECKING, Any

from tacit.cli.terminal import can_print, clean, console

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["draw_page"]

BAR = 12  # characters of a full bar
FIRM, TENTATIVE = 0.85, 0.65  # confidence from which a group is called so


def draw_page(result: dict[str, Any], choice: Any) -> None:
    """The findings, on about two screens."""
    screen = console()
    rule(screen, f"What are {result['documents']:,} docstrings about?")
    facts = (
        ("read", f"functions and classes of {result['modules']} modules, from their source"),
        ("counted", f"{result['terms']:,} words, weighed by tf-idf"),
        ("reduced", f"to {result['directions']} directions of meaning (LSA), "
         f"{result['explained']:.0%} of the variance"),
        ("grouped", f"into {result['k']}, by direction (spherical k-means), "
         "without looking at the modules"),
    )  # fmt: skip
    draw_pairs(screen, facts)
    found = "none that are clear" if choice.best == 1 else f"{choice.best}"
    rule(screen, f"How many groups? {found}")
    draw_choice(screen, choice)
    rule(screen, "The groups")
    draw_groups(screen, result["clusters"])
    rule(screen, "How good is that?")
    draw_agreement(screen, result)
    rule(screen, "To look at")
    files = [
        ("the tree of groups", result["tree_file"]),
        ("the map", result["map_file"]),
        ("every document", result["labels_file"]),
    ]
    for name, path in files:
        if path:  # in one piece, to be copied
            screen.print(f"{name:18}  {clean(path)}", soft_wrap=True, highlight=False)
    if result["tree_file"] is None:
        screen.print("Pictures need matplotlib: pip install 'tacit[plot]'", soft_wrap=True)
    labels = clean(result["labels_file"])
    screen.print(
        f"\ntacit compare {labels} {labels} --label-a module\nshows groups against modules. "
        f"All of this took {sum(result['seconds'].values()):.1f} seconds.",
        soft_wrap=True,
    )


def rule(screen: "Console", title: str) -> None:
    from rich.text import Text

    line = "─" if can_print("─") else "-"
    screen.print()
    screen.rule(Text(clean(title), style="bold"), align="left", characters=line, style="dim")


def draw_pairs(screen: "Console", pairs: Any) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    for name, words in pairs:
        table.add_row(Text(name, style="dim"), Text(words, overflow="fold"))
    screen.print(table)


def bar(share: float) -> str:
    """A bar for a share from 0 to 1.

    >>> len(bar(0.0)), len(bar(0.5).strip())
    (12, 6)
    """
    full, empty = ("█", " ") if can_print("█") else ("#", " ")
    length = round(BAR * min(1.0, max(0.0, share)))
    return full * length + empty * (BAR - length)


def draw_choice(screen: "Console", choice: Any) -> None:
    """The reasons, and how sharp and how stable the groups are for every k."""
    from rich.table import Table
    from rich.text import Text

    mark = "•" if can_print("•") else "-"
    reasons = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    for reason in choice.reasons:
        reasons.add_row(mark, Text(clean(reason)))
    screen.print(reasons)
    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("k", "sharp", "by chance", "stable", "", ""):
        table.add_column(title, justify="right" if title else "left")
    for row in choice.table:
        if row.silhouette is None or row.stability is None:
            continue
        chance = "" if row.null_silhouette is None else f"{row.null_silhouette:.2f}"
        chosen = row.k == choice.best
        cells = [str(row.k), f"{row.silhouette:.2f}", chance, f"{row.stability:.2f}"]
        cells += [bar(row.stability), "chosen" if chosen else ""]
        table.add_row(*(Text(cell, style="bold" if chosen else "") for cell in cells))
    screen.print()
    screen.print(table)
    screen.print(
        "sharp: mean silhouette, beside what data without groups reaches; stable: how much of "
        "the least sure group is found again in half of the documents.",
        style="dim",
    )  # fmt: skip


def draw_groups(screen: "Console", groups: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for title in ("Group", "Docs", "Sure"):
        table.add_column(title, justify="right", vertical="top")
    table.add_column("Keywords, an example, where the documents are from")
    for group in groups:
        from_where = [f"{each['module']} {each['share']:.0%}" for each in group["modules"]]
        words = Text(", ".join(clean(word) for word in group["keywords"]), style="bold")
        example = group["exemplars"][0]
        words.append("\n" + public(clean(example["id"])) + ": ", style="not bold")
        words.append(clean(example["summary"]), style="not bold italic")
        words.append("\n" + ", ".join(from_where), style="not bold dim")
        cells = (str(group["cluster"]), f"{group['rows']:,}", f"{group['confidence']:.0%}")
        table.add_row(*cells, words)
    screen.print(table)


def public(name: str) -> str:
    """A dotted name as people know it, without the private parts of its path.

    >>> public("scipy.stats._stats_py.mode")
    'scipy.stats.mode'
    """
    return ".".join(part for part in name.split(".") if not part.startswith("_"))


def draw_agreement(screen: "Console", result: dict[str, Any]) -> None:
    agreement, resamples = result["agreement"], result["resamples"]
    draw_pairs(
        screen,
        (
            (f"{agreement['v_measure']:.2f}", "V-measure against the modules, which the groups "
             "were made without: 1 the same, 0 unrelated"),
            (f"{agreement['homogeneity']:.2f}", "homogeneity: a group keeps to one module"),
            (f"{agreement['completeness']:.2f}", "completeness: a module keeps to one group"),
            (f"{resamples['agreement']:.2f}", f"agreement of {resamples['number']} resamples "
             "with these groups (adjusted Rand: 1 always the same, 0 chance)"),
        ),
    )  # fmt: skip
    firm = [g for g in result["clusters"] if g["confidence"] >= FIRM]
    loose = [g for g in result["clusters"] if g["confidence"] < TENTATIVE]
    words = (
        f"{len(firm)} of {result['k']} groups are firm: two of their documents stay together "
        f"in {FIRM:.0%} of the resamples or more."
    )
    if loose:
        names = ", ".join(str(group["cluster"]) for group in loose)
        words += f" Do not build on group {names}, below {TENTATIVE:.0%}."
    screen.print("\n" + words)
