"""The tables, and the sections of RESULTS.md.

Each benchmark owns the text between its two markers; running one leaves the others' as they
were. The file is written here and never by hand.
"""

import os
import re
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.harness import BUSY, CaseResult, Row

__all__ = [
    "RESULTS", "case_section", "heading", "render", "sections", "to_json", "write_section",
]  # fmt: skip

RESULTS = Path(__file__).with_name("RESULTS.md")
HEADER = """\
# Results

Written by `python -m benchmarks NAME`; do not edit. Each section holds the last full run of
one benchmark. The ratio is the rival's median time over Tacit's: above 1, Tacit is faster;
best is the same of the shortest times, which other programs disturb less. The gap is Tacit's
quality against the rival's as a share, positive where Tacit is worse; a ratio counts only
where the gap is within the tolerance. Growth is the peak of resident memory during the
repeats over what the process held before them; process is the peak of the whole process.
The words are explained at the top of `harness.py`.
"""
COLUMNS = (
    "contender", "median s", "range", "cpu s", "ratio", "best", "target", "{measure}", "gap",
    "growth MB", "process MB", "verdict", "notes",
)  # fmt: skip


def render(name: str, about: str, facts: dict[str, Any], results: Sequence[CaseResult]) -> str:
    """A benchmark's section as Markdown that also reads well on a terminal."""
    return "\n".join([heading(name, about, facts), *map(case_section, results)])


def heading(name: str, about: str, facts: dict[str, Any]) -> str:
    lines = [f"## {name}", "", about, "", *(f"- {key}: {facts[key]}" for key in facts)]
    return "\n".join(lines) + "\n"


def case_section(result: CaseResult) -> str:
    lines = [f"### {result.name}", ""]
    if result.about:
        lines += [f"Data: {result.about}.", ""]
    lines += [*table(result), "", first_call(result), ""]
    lines += [f"- {'ok' if each.passed else 'FAILED'}: {each.text}" for each in result.checks]
    if result.others is not None:
        lines.append(noise(result.others))
    return "\n".join(lines).rstrip() + "\n"


def table(result: CaseResult) -> list[str]:
    head = [column.format(measure=result.measure) for column in COLUMNS]
    cells = [head, *(row_cells(row) for row in result.rows)]
    if not result.rows[0].trouble:
        cells[1][head.index("ratio")] = cells[1][head.index("best")] = "1"
    widths = [max(len(line[j]) for line in cells) for j in range(len(head))]

    def show(line: Sequence[str]) -> str:
        return "| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |"

    return [show(head), show(["-" * w for w in widths]), *map(show, cells[1:])]


def row_cells(row: Row) -> list[str]:
    if row.trouble:
        trouble = " ".join(row.trouble.split()).replace("|", "/")
        return [row.name, *["-"] * (len(COLUMNS) - 3), trouble, ""]
    notes = ", ".join(f"{key}={value}" for key, value in row.notes.items())
    return [
        row.name,
        seconds(row.median),
        f"{seconds(min(row.seconds))} to {seconds(max(row.seconds))}",
        seconds(row.cpu),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        "" if row.best is None else f"{row.best:.2f}",
        "" if row.target is None else f"{row.target:g}",
        "" if row.quality is None else f"{row.quality:.8g}",
        "" if row.difference is None else f"{row.difference:+.1e}",
        megabytes(row.growth),
        megabytes(row.peak),
        row.verdict,
        notes,
    ]


def first_call(result: CaseResult) -> str:
    ours = result.rows[0]
    if ours.trouble or ours.first is None:
        return "First call of Tacit: no figure."
    job = " on a smaller job" if result.smaller_first else ""
    if result.cold is None:
        return (
            f"First call of Tacit{job}: {seconds(ours.first)} s in a new process with the "
            "kernels of the cases above cached."
        )
    return (
        f"First call of Tacit{job}: {seconds(result.cold)} s compiling every kernel, "
        f"{seconds(ours.first)} s in a new process with the kernels cached."
    )


def noise(others: float) -> str:
    care = "; read the figures with care" if others > BUSY else ""
    return f"- Other programs kept {others:.2f} cores busy meanwhile{care}."


def seconds(value: float) -> str:
    return f"{value:.4f}" if value < 0.1 else f"{value:.3f}" if value < 10 else f"{value:.1f}"


def megabytes(value: int | None) -> str:
    return "" if value is None else f"{max(0, value) / 1e6:.0f}"


def now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")


def to_json(result: CaseResult) -> dict[str, Any]:
    """Everything but the answers themselves, which are arrays."""
    for_json = asdict(result)
    for row in for_json["rows"]:
        del row["answer"]
    return for_json | {"passed": result.passed}


# --- RESULTS.md ---


def sections(text: str) -> dict[str, str]:
    """The benchmarks in a results file and what stands between their markers.

    >>> sections("<!-- begin a -->\\nbody\\n<!-- end a -->\\n")
    {'a': 'body\\n'}
    """
    pattern = r"^<!-- begin (\w+) -->\n(.*?)^<!-- end \1 -->$"
    found = re.findall(pattern, text, flags=re.MULTILINE | re.DOTALL)
    marks = len(re.findall(r"^<!-- (?:begin|end) \w+ -->$", text, flags=re.MULTILINE))
    if marks != 2 * len(found) or len({name for name, _ in found}) != len(found):
        raise ValueError(
            f"The results hold {marks} markers for {len(found)} sections; each needs one begin "
            "and one end. Delete the file and run the benchmarks again."
        )
    return dict(found)


def write_section(name: str, body: str, path: Path = RESULTS) -> None:
    """Put one benchmark's section in the file; the others stay, in order of name."""
    kept = sections(path.read_text(encoding="utf8")) if path.exists() else {}
    kept[name] = body
    text = HEADER + "".join(
        f"\n<!-- begin {key} -->\n{kept[key]}<!-- end {key} -->\n" for key in sorted(kept)
    )
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf8")
    os.replace(new, path)
