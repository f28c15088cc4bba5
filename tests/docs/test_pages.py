"""The pages hold together: links, pictures, commands, language, the list of lecture topics."""

import importlib
import re
from pathlib import Path

import click
import pytest

from tests.docs.pages import (
    PAGES,
    ROOT,
    find_command,
    name_of,
    shown_commands,
    slug,
    split_blocks,
    stages_of,
)
from tests.test_package import ORDER

LINK = re.compile(r"(!?)\[[^\]]*\]\(([^)\s]+)\)")


def prose_of(path: Path) -> list[tuple[int, str]]:
    return split_blocks(path.read_text(encoding="utf-8"))[0]


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_links_and_pictures_lead_somewhere(path):
    broken = []
    for number, line in prose_of(path):
        for _, target in LINK.findall(re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            other = (path.parent / file).resolve() if file else path
            if other.parent == ROOT / "docs/reference":  # made when the pages are built
                if not (ROOT / "src/tacit" / other.stem).is_dir() and other.stem != "tacit":
                    broken.append(f"{number}: {target}")
            elif not other.exists():
                broken.append(f"{number}: {target}")
            elif anchor and anchor not in anchors(other):
                broken.append(f"{number}: {target} has no such heading")
    assert not broken


def anchors(path: Path) -> set[str]:
    return {slug(line.lstrip("#")) for _, line in prose_of(path) if line.startswith("#")}


def test_every_page_can_be_reached_from_the_start_page():
    """Sphinx would warn too, but takes minutes."""
    listed = set()
    for path in PAGES:
        for block in split_blocks(path.read_text(encoding="utf-8"))[1]:
            if block.language == "{toctree}":
                names = [line for line in block.lines if line and not line.startswith(":")]
                for name in names:
                    found = path.parent.glob(f"{name}.md") if "*" in name else [f"{name}.md"]
                    listed |= {(path.parent / each).resolve() for each in found}
    docs = ROOT / "docs"
    pages = {path for path in PAGES if docs in path.parents and path.name != "index.md"}
    assert not pages - listed
    reference = docs / "reference"
    missing = {path for path in listed - pages if path.parent != reference}
    assert not missing


def test_every_drawn_picture_is_shown_and_in_the_repository():
    drawn = re.findall(
        r"^@picture\ndef (\w+)", (ROOT / "docs/pictures.py").read_text(encoding="utf-8"), re.M
    )
    shown = {
        Path(target).name
        for path in PAGES
        for _, line in prose_of(path)
        for mark, target in LINK.findall(line)
        if mark
    }
    assert drawn
    assert not {f"{name}.png" for name in drawn} - shown
    files = {path.name for path in (ROOT / "docs/pictures").iterdir()}
    assert files == shown


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_command_shown_exists_with_its_options(path):
    wrong = []
    for number, line in shown_commands(path.read_text(encoding="utf-8")):
        for words in stages_of(line):
            if words[:1] != ["tacit"]:
                continue
            command, rest = find_command(words[1:])
            wrong += [f"{number}: {line}: {problem}" for problem in problems(command, rest)]
    assert not wrong


def problems(command: click.Command, rest: list[str]) -> list[str]:
    """Options that the command does not have, or a verb that is none."""
    if isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        if command.name != "topics":  # tacit topics PATH is short for tacit topics fit PATH
            return [f"there is no command {rest[0]!r}"]
        command = command.commands["fit"]
    names = {"-h", "--help", "--version", "..."}
    for param in command.params:
        names |= {*param.opts, *param.secondary_opts}
    used = [word.split("=")[0] for word in rest if re.match(r"--?[A-Za-z]", word)]
    return [f"there is no option {word}" for word in used if word not in names]


def test_the_check_of_commands_can_fail():
    assert problems(*find_command(["cluster", "x.csv", "--colour", "red"]))
    assert problems(*find_command(["clustr", "x.csv"]))
    assert not problems(*find_command(["cluster", "x.csv", "--k", "3"]))


# --- Language ---

UNWANTED = re.compile(
    r"\b(is no [a-z]+ but|so many|comes? again|tells? of|manners|\d+ times of \d+|likeliest|"
    r"colour|behaviour|favour|neighbour|centre|misspelt|learnt|modelling|labelled|grey)\b",
    re.I,
)


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_pages_are_in_plain_american_english(path):
    found = [
        f"{number}: {line}"
        for number, line in prose_of(path)
        if UNWANTED.search(re.sub(r"`[^`]*`|\"[^\"]*\"|\*[^*]*\*|language modelling", "", line))
    ]
    assert not found


# --- What pages say of the code ---


def test_the_architecture_page_lists_the_packages_in_their_order():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    listed = re.search(r"which a test checks:\n\n((?:    .*\n)+)", text)[1].split()
    assert listed == [name for name in ORDER if not name.startswith("_")]
    table = set(re.findall(r"`(\w+)`", " ".join(re.findall(r"^\| (`.*?) \|", text, re.M))))
    assert {name for name in ORDER if not name.startswith("_")} <= table


def test_the_architecture_page_names_files_that_exist():
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    source = ROOT / "src/tacit"
    files = set(re.findall(r"[\w/]+/\w+\.py", text))
    missing = {
        file for file in files if not (source / file).exists() and not [*source.rglob(file)]
    }
    assert len(files) > 20
    assert not missing


def rows_of_topics() -> list[list[str]]:
    rows = []
    for _, line in prose_of(ROOT / "docs/lecture_topics.md"):
        cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and cells[0].isdigit():
            rows.append(cells)
    return rows


def test_all_46_systems_of_the_lectures_are_listed():
    rows = rows_of_topics()
    assert sorted(int(row[0]) for row in rows) == list(range(1, 47))
    assert all(LINK.search(row[2]) for row in rows)


PACKAGES = [
    "classify", "cluster", "decompose", "language", "measure", "mixture", "neural", "recommend",
    "search", "style", "text", "topics", "words",
]  # fmt: skip


def test_the_classes_of_the_lecture_topics_are_public():
    public = {
        name
        for package in PACKAGES
        for name in importlib.import_module(f"tacit.{package}").__all__
    }
    codes = [code for row in rows_of_topics() for code in re.findall(r"`([^`]+)`", row[3])]
    named = {re.split(r"[.(]", code)[0] for code in codes}
    assert named
    assert not named - public


def test_the_tests_of_the_notes_are_all_named_among_the_lecture_topics():
    text = (ROOT / "docs/lecture_topics.md").read_text(encoding="utf-8")
    named = set(re.findall(r"test_\w+\.py", text))
    assert {path.name for path in (ROOT / "tests/notes").glob("test_*.py")} <= named
    assert named <= {path.name for path in (ROOT / "tests").rglob("test_*.py")}


# Pages of models.md that are not about a model.
OTHER = {"ask_a_project", "cluster_command", "explore", "model_files", "serve"}
MODEL_PAGES = [
    ROOT / "docs" / target
    for _, line in prose_of(ROOT / "docs/models.md")
    for _, target in LINK.findall(line)
    if Path(target).stem not in OTHER
]


@pytest.mark.parametrize("path", MODEL_PAGES, ids=name_of)
def test_the_page_of_a_model_has_a_picture_an_example_cost_limits_rivals_and_papers(path):
    prose, blocks = split_blocks(path.read_text(encoding="utf-8"))
    headings = " ".join(line.lower() for _, line in prose if line.startswith("## "))
    missing = [word for word in ("cost", "limits", "rivals", "papers") if word not in headings]
    assert not missing
    assert any(line.startswith("![") for _, line in prose)
    assert any(line.startswith(">>>") for block in blocks for line in block.lines)


# --- README ---


def test_the_table_of_the_readme_is_that_of_the_results():
    table = importlib.import_module("benchmarks.readme_table")
    readme = table.README.read_text(encoding="utf-8")
    results = importlib.import_module("benchmarks.report").RESULTS.read_text(encoding="utf-8")
    assert table.renew(readme, results) == readme, "run python -m benchmarks.readme_table"


def test_a_changed_result_would_be_noticed():
    table = importlib.import_module("benchmarks.readme_table")
    results = importlib.import_module("benchmarks.report").RESULTS.read_text(encoding="utf-8")
    task = table.ROWS[0]
    row = table.cases(results)[task[1], task[2]]["Tacit"]
    changed = results.replace(row["median s"], "999")
    assert table.render(changed) != table.render(results)
