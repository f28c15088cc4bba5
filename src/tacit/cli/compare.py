"""``tacit compare A B``: the agreement of two groupings of the same rows."""

import re
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import click

from tacit.cli import inputs, options, output
from tacit.cli.options import ShowOptions
from tacit.core.wording import count

if TYPE_CHECKING:
    from tacit.data.label_files import LabelTable
    from tacit.measure.labels import Codes

__all__ = ["compare"]

MOST_CELLS = (24, 12)  # rows and columns of a table that fits a terminal
WIDE = 14  # characters of a label in it
WHOLE = re.compile(r"-?\d{1,4000}")  # a number as long as Python reads
# Measures in the order they are shown: name, key, meaning.
MEASURES = (
    ("Adjusted Rand", "adjusted_rand", "pairs grouped alike; 1: all, 0: as by chance"),
    ("NMI", "nmi", "normalized mutual information, from 0 to 1"),
    ("AMI", "ami", "the same, adjusted for chance"),
    ("V-measure", "v_measure", "harmonic mean of the next two"),
    ("Homogeneity", "homogeneity", "1 if every group of B lies within one group of A"),
    ("Completeness", "completeness", "1 if every group of A lies within one group of B"),
    ("Purity", "purity", "fraction of rows with the majority label of their group"),
    ("Best matching", "best_matching", "accuracy if groups of B are matched with those of A"),
)


@options.command()
@click.argument("a", metavar="A")
@click.argument("b", metavar="B")
@click.option("--label-a", metavar="COLUMN",
              help="Column of A with the labels  [default: guessed]")
@click.option("--label-b", metavar="COLUMN",
              help="Column of B with the labels  [default: guessed]")
@click.option("--id", "id_column", metavar="COLUMN",
              help="Column of both files with the ids of the rows  [default: id or row]")
@click.option("--by-row", is_flag=True, help="Match rows by their order and ignore ids.")
@click.option("--common", is_flag=True, help="Compare only rows whose ids are in both files.")
@options.header_option
@options.out_option("the table of counts")
@options.show_options
def compare(
    a: str, b: str, label_a: str | None, label_b: str | None, id_column: str | None,
    by_row: bool, common: bool, header: bool | None, out: str | None, show: ShowOptions,
) -> None:  # fmt: skip
    """Measure how well two groupings of the same rows agree; names of groups do not matter.

    A and B are CSV files with a column of labels, such as `tacit cluster --out` writes; one of
    them may be - for standard input. If one is the truth, make it A. Rows are matched by a
    column called id or row if both files have it, otherwise by their order.

    \b
    tacit compare species.csv clusters.csv
    """
    if a == b == "-":
        raise click.UsageError("Only one of the two can be standard input. Name a file.")
    if by_row and (id_column or common):
        raise click.UsageError("--by-row ignores ids. Drop it, or --id and --common.")
    first = inputs.read_label_file(a, label_a, id_column, header, option="--label-a")
    second = inputs.read_label_file(b, label_b, id_column, header, option="--label-b")
    notes = [f"{t.file}: {each}." for t in (first, second) for each in t.notes]
    truth, groups, how, left_out = match(first, second, by_row=by_row, common=common)
    notes.append(how)
    output.note(*notes)
    result: dict[str, Any] = {
        "a": {"file": first.file, "column": first.column},
        "b": {"file": second.file, "column": second.column},
        "rows": len(truth), "left_out": left_out,
        **measures(truth, groups), **table_of(truth, groups),
        "notes": notes, "table_file": out,
    }  # fmt: skip
    if out is not None:
        titles = [f"{first.column} \\ {second.column}", *result["labels_b"]]
        rows = zip(result["labels_a"], result["table"], strict=True)
        output.write_csv(out, titles, ([label, *counts] for label, counts in rows))
    if show.as_json:
        output.print_json(result)
    elif out != "-":
        draw(result)
    output.say_written(table=out)


# --- Matching rows ---


def match(
    first: "LabelTable", second: "LabelTable", *, by_row: bool, common: bool
) -> tuple[list[str], list[str], str, int]:
    """The labels of both in one order, a sentence about the matching, and the number of rows
    left out."""
    from tacit.core.errors import DataError

    named = [(table.id_column or "").lower() for table in (first, second)]
    if not by_row and named[0] == named[1] != "":
        return match_ids(first, second, common=common)
    if common:
        raise DataError(
            "--common compares the ids that both files have, but the files have no column of "
            "ids in common. Name it with --id."
        )
    if len(first.labels) != len(second.labels):
        raise DataError(
            f"{first.file} has {len(first.labels):,} rows and {second.file} has "
            f"{len(second.labels):,}, and rows without ids are compared one by one. Give both "
            "files the same rows, or a column of ids."
        )
    why = ""
    if not by_row and any(named):
        why = f", because only {(first if named[0] else second).file} has ids"
        if all(named):
            why = f", because the id columns, {first.id_column} and {second.id_column}, differ"
    how = f"{count(len(first.labels), 'row')} matched by their order{why}."
    return first.labels, second.labels, how, 0


def match_ids(
    first: "LabelTable", second: "LabelTable", *, common: bool
) -> tuple[list[str], list[str], str, int]:
    from tacit.core.errors import DataError

    first_ids, second_ids = list(first.ids or ()), list(second.ids or ())
    where = {id: j for j, id in enumerate(second_ids)}
    pairs = [(i, where[id]) for i, id in enumerate(first_ids) if id in where]
    left_out = len(first_ids) + len(second_ids) - 2 * len(pairs)
    if left_out and not (common and pairs):
        table, ids, other, other_ids = first, first_ids, second, second_ids
        if len(pairs) == len(first_ids):
            table, ids, other, other_ids = second, second_ids, first, first_ids
        known = {*other_ids}
        missing = [i for i, id in enumerate(ids) if id not in known]
        way_out = "Use --common to compare the others." if pairs else (
            "They share no id at all. Use --by-row if the rows are in the same order."
        )  # fmt: skip
        raise DataError(
            f"{len(missing):,} of the {len(ids):,} ids are not in {other.file}; the first is "
            f"{ids[missing[0]]!r} (line {table.lines[missing[0]]}). {way_out}",
            file=table.file,
            column=table.id_column,
        )
    how = f"{count(len(pairs), 'row')} matched by the column {first.id_column}"
    how += f"; {left_out:,} that are in only one file left out." if left_out else "."
    truth = [first.labels[i] for i, _ in pairs]
    return truth, [second.labels[j] for _, j in pairs], how, left_out


# --- Measures ---


def measures(truth: list[str], groups: list[str]) -> dict[str, float]:
    from tacit import measure

    h, c, v = measure.homogeneity_completeness_v_measure(truth, groups)
    return {
        "adjusted_rand": measure.adjusted_rand_score(truth, groups),
        "rand": measure.rand_score(truth, groups),
        "nmi": measure.normalized_mutual_info_score(truth, groups),
        "ami": measure.adjusted_mutual_info_score(truth, groups),
        "v_measure": v,
        "homogeneity": h,
        "completeness": c,
        "purity": measure.purity(truth, groups),
        "best_matching": measure.best_matching_accuracy(truth, groups),
    }


def table_of(truth: list[str], groups: list[str]) -> dict[str, Any]:
    """The contingency table: A by size, B in the order of its best matches."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    from tacit.measure.labels import contingency, two_labelings

    a, b = two_labelings(truth, groups, name="compare")
    counts = contingency(a, b).toarray()
    rows, columns = linear_sum_assignment(counts, maximize=True)
    partner = {int(i): int(j) for i, j in zip(rows, columns, strict=True) if counts[i, j]}
    down = by_size(a)
    paired = {partner[i]: None for i in down if i in partner}
    across = [*paired, *(j for j in by_size(b) if j not in paired)]
    return {
        "labels_a": [str(a.names[i]) for i in down],
        "labels_b": [str(b.names[j]) for j in across],
        "table": counts[np.ix_(down, across)].tolist(),
        "matched": {str(a.names[i]): str(b.names[partner[i]]) for i in down if i in partner},
    }


def by_size(labels: "Codes") -> list[int]:
    """The indices of labels, the most frequent first, equals in natural order: 2 before 10."""

    def key(i: int) -> tuple:
        text = str(labels.names[i])
        is_number = WHOLE.fullmatch(text)
        return (-labels.counts[i], *((0, int(text), "") if is_number else (1, 0, text)))

    return sorted(range(len(labels.names)), key=key)


# --- Printing ---


def draw(result: dict[str, Any]) -> None:
    """Print the table of counts, matched groups in bold, and the measures."""
    from rich.table import Table
    from rich.text import Text

    screen = output.console()
    labels_a, labels_b, counts = result["labels_a"], result["labels_b"], result["table"]
    if len(labels_a) <= MOST_CELLS[0] and len(labels_b) <= MOST_CELLS[1]:
        none = "·" if output.can_print("·") else "."
        for side, name in (("a", "Rows are the groups of A"), ("b", "Columns are those of B")):
            file, column = PurePath(result[side]["file"]).name, result[side]["column"]
            click.echo(f"{name}: {short(file, 40)}, column {short(column, 20)}")
        table = Table(box=None)
        table.add_column(Text("A \\ B"), justify="right")
        for label in labels_b:
            table.add_column(Text(short(label), style="bold"), justify="right")
        for label, row in zip(labels_a, counts, strict=True):
            cells = [
                Text(f"{count:,}" if count else none, style="bold" if best else "")
                for count, best in (
                    (count, result["matched"].get(label) == other)
                    for count, other in zip(row, labels_b, strict=True)
                )
            ]
            table.add_row(Text(short(label), style="bold"), *cells)
        screen.print(table)
    else:
        click.echo(
            f"{len(labels_a):,} groups in A and {len(labels_b):,} in B are too many to show: "
            "--out and --json write the complete table."
        )
    click.echo("")
    lines = Table(box=None, show_header=False, padding=(0, 1))
    for name, key, words in MEASURES:
        lines.add_row(name, f"{result[key]:.3f}", words)
    screen.print(lines)


def short(label: str, most: int = WIDE) -> str:
    text = " ".join(output.clean(label).split())
    return text if len(text) <= most else text[: most - 1] + "…"
