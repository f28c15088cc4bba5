"""The map of a project as a picture for notebooks: SVG, without scripts."""

import os
from dataclasses import dataclass
from html import escape
from pathlib import Path

import numpy as np

from tacit.core.wording import count
from tacit.explore.report.clean_text import clean_line, cut
from tacit.explore.report.colors import LIGHT, SLOTS

__all__ = ["MapView", "make_map", "scaled"]

MOST_DOTS = 4000  # beyond, an evenly spaced sample is drawn
MOST_NAMES = 12  # groups in the legend
LONGEST = 48  # characters of a name
NONE = "#9a9a9a"  # documents without a group


@dataclass(frozen=True)
class MapView:
    """A picture of the map. A notebook shows it inline; ``save`` writes an .svg file."""

    svg: str
    documents: int
    groups: int

    def save(self, path: str | os.PathLike) -> Path:
        """Write the picture as an .svg file; where it is."""
        target = Path(path)
        target.write_text(self.svg, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        inside = f" in {count(self.groups, 'group')}" if self.groups else ""
        return f"Map of {count(self.documents, 'document')}{inside}"


def make_map(
    points: np.ndarray,
    labels: np.ndarray | None,
    names: dict[int, str],
    ids: list[str],
    *,
    width: int,
    height: int,
) -> MapView:
    """Draw points, colored by group, with the names of the largest groups next to them. The
    id of a document appears under the pointer."""
    n = len(points)
    keep = np.arange(n)
    if n > MOST_DOTS:
        keep = np.linspace(0, n - 1, MOST_DOTS).round().astype(np.int64)
    legend = list(names.items())[:MOST_NAMES]
    side = 300 if legend else 0
    x, y = scaled(points, width - side, height)
    radius = 4.0 if n <= 300 else 2.6 if n <= 1500 else 1.7
    dots = []
    for i in keep.tolist():
        group = -1 if labels is None else int(labels[i])
        color = NONE if group < 0 else LIGHT[group % SLOTS]
        dots.append(
            f'<circle cx="{x[i]:.1f}" cy="{y[i]:.1f}" r="{radius}" fill="{color}">'
            f"<title>{safe(ids[i])}</title></circle>"
        )
    lines = []
    for row, (group, name) in enumerate(legend):
        top = 22 + 22 * row
        lines.append(
            f'<circle cx="{width - side + 14}" cy="{top}" r="5" fill="{LIGHT[group % SLOTS]}"/>'
            f'<text x="{width - side + 28}" y="{top + 4}">{safe(name)}</text>'
        )
    if len(names) > MOST_NAMES:
        more = f"and {count(len(names) - MOST_NAMES, 'smaller group')}"
        lines.append(f'<text x="{width - side + 28}" y="{26 + 22 * MOST_NAMES}">{more}</text>')
    some = f"{len(keep):,} of {count(n, 'document')} drawn" if len(keep) < n else (
        count(n, "document")
    )  # fmt: skip
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'width="{width}" height="{height}" style="max-width:100%;height:auto;background:#fff" '
        f'font-family="system-ui, sans-serif" font-size="12" fill="#1b1d20">'
        f"<title>Map of {count(n, 'document')}</title>"
        f'<rect width="100%" height="100%" fill="#fff"/>'
        f'<g fill-opacity=".75">{"".join(dots)}</g>{"".join(lines)}'
        f'<text x="8" y="{height - 8}" fill="#666b73">{some}</text></svg>'
    )
    return MapView(svg, n, len(names))


def scaled(points: np.ndarray, width: int, height: int) -> tuple[np.ndarray, np.ndarray]:
    """Places on the picture, with a margin; one scale for both axes."""
    margin = 16.0
    finite = np.nan_to_num(np.asarray(points, np.float64))
    low, high = finite.min(axis=0), finite.max(axis=0)
    span = np.maximum(high - low, 1e-12)
    scale = min((width - 2 * margin) / span[0], (height - 2 * margin - 14) / span[1])
    moved = (finite - (low + high) / 2) * scale
    return moved[:, 0] + width / 2, (height - 14) / 2 - moved[:, 1]


def safe(text: str) -> str:
    """Untrusted text as text of an SVG."""
    return escape(cut(clean_line(text), LONGEST))
