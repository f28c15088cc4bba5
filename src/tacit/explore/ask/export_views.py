"""The groups and their tree, and the pair of files of the Embedding Projector."""

import json
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from tacit.cli.csv_out import guard
from tacit.explore.ask.export_tables import blocks_of
from tacit.explore.ask.live import Live
from tacit.explore.report.page_text import clean_line, cut, title_and_opening
from tacit.explore.report.report_groups import name_of, telling_first

__all__ = ["tree_text", "write_groups", "write_metadata", "write_tree", "write_vectors"]

VECTORS = 1024  # rows at a time
CELL = 200  # characters


def write_groups(live: Live, file: BinaryIO, labels: Mapping, spread: Any = None) -> None:
    """The groups as JSON: size, verdict, words, typical documents by id."""
    found = live.facts("groups")
    groups = [
        {
            "group": group["group"],
            "name": " ".join(name_of([word for word, *_ in telling_first(group["words"])])),
            "size": group["size"],
            "share": group["share"],
            "verdict": group["verdict"],
            "overlap": group["jaccard"],
            "words": [
                {"word": word, "score": score, "inside": inside, "outside": outside}
                for word, score, inside, outside in group["words"]
            ],
            "typical": [live.id_of(row) for row in group["typical"]],
        }
        for group in found.get("groups", [])
    ]
    made: dict[str, Any] = {"documents": live.n, "k": found.get("k"), "groups": groups}
    made["note"] = found.get("skipped")
    if len(groups) > 1:
        made["tree"] = tree_text(live)
    text = json.dumps(made, ensure_ascii=False, indent=1)
    file.write(text.encode("utf-8", "replace") + b"\n")


def write_tree(live: Live, file: BinaryIO, labels: Mapping, spread: Any = None) -> None:
    """The tree of the groups in Newick."""
    file.write(tree_text(live).encode("utf-8", "replace") + b"\n")


def tree_text(live: Live) -> str:
    """The groups joined by likeness, each named by its number and words."""
    from tacit.cluster import to_newick

    found = live.facts("groups")
    groups = found.get("groups", [])
    if not groups:
        why = found.get("skipped", "The documents are not divided into groups.")
        raise ValueError(f"There is no tree of groups to export. {why}")
    named = [name_of([word for word, *_ in telling_first(group["words"])]) for group in groups]
    names = [
        clean_line(f"{group['group']} {' '.join(words)}")
        for group, words in zip(groups, named, strict=True)
    ]
    return to_newick(np.array(found["tree"], np.float64).reshape(-1, 4), names)


def write_vectors(live: Live, file: BinaryIO, labels: Mapping, spread: Any = None) -> None:
    """A row of numbers for every document, between tabs."""
    rows = directions(live)
    for start in range(0, len(rows), VECTORS):
        part = rows[start : start + VECTORS].tolist()
        text = "".join("\t".join(f"{v:.6g}" for v in row) + "\n" for row in part)
        file.write(text.encode())


def write_metadata(live: Live, file: BinaryIO, labels: Mapping, spread: Any = None) -> None:
    """What each row is: a header, and no tab or line end inside a cell."""
    directions(live)
    titles = live.title_column
    columns = [name for name in live.columns if name != titles]
    file.write(tsv_line(["id", "title", "group", "label", "spread", *columns]))
    for start, texts in blocks_of(live):
        part = live.table.slice(start, len(texts))
        given = [part[name].to_pylist() for name in columns]
        named = [None] * len(texts) if titles is None else part[titles].to_pylist()
        groups = [""] * len(texts)
        if live.groups is not None:
            groups = live.groups[start : start + len(texts)].tolist()
        ids = part["id"].to_pylist()
        lines = []
        for i, text in enumerate(texts):
            title = None if named[i] is None else str(named[i])
            code = -1 if spread is None else spread["names"][start + i]
            cells = [
                ids[i], title_and_opening(text, title)[0], groups[i],
                labels.get(start + i, ""), spread["classes"][code] if code >= 0 else "",
                *(values[i] for values in given),
            ]  # fmt: skip
            lines.append(tsv_line(cells))
        file.write(b"".join(lines))


def tsv_line(cells: list[Any]) -> bytes:
    clean = (
        "" if each is None else str(guard(cut(clean_line(str(each)), CELL))) for each in cells
    )
    return ("\t".join(clean) + "\n").encode("utf-8", "replace")


def directions(live: Live) -> np.ndarray:
    if why := live.skipped("meaning"):
        raise ValueError(f"There are no directions of meaning to export: {why}")
    return live.arrays("meaning")["rows"]
