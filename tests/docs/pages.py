"""The pages of the documentation as tests read them: links, headings, commands."""

import re
import shlex
from pathlib import Path
from typing import NamedTuple

import click

from tacit.cli.main import cli

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")],
    key=lambda path: path.relative_to(ROOT),
)
FENCE = re.compile(r"^(`{3,}|:{3,})(.*)$")


class Block(NamedTuple):
    """A fenced block: its language and its lines, with the line where it begins."""

    language: str
    lines: list[str]
    start: int


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def split_blocks(text: str) -> tuple[list[tuple[int, str]], list[Block]]:
    """The lines outside of code blocks, with their numbers, and the blocks."""
    prose: list[tuple[int, str]] = []
    blocks: list[Block] = []
    block: Block | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        fence = FENCE.match(line)
        if block is not None:
            if line.startswith("```"):
                blocks.append(block)
                block = None
            else:
                block.lines.append(line)
        elif fence and fence[1].startswith("`"):
            block = Block(fence[2].strip(), [], number)
        else:
            prose.append((number, line))
    assert block is None, f"a block that begins at line {block.start} does not end"
    return prose, blocks


def shell_lines(text: str) -> list[tuple[int, str]]:
    """The commands of the sh blocks, without comments, with their line numbers."""
    found = []
    for block in split_blocks(text)[1]:
        if block.language != "sh":
            continue
        for i, line in enumerate(block.lines, start=block.start + 1):
            command = re.sub(r"(^|\s+)#\s.*$", "", line).strip()
            if command:
                found.append((i, command))
    return found


def shown_commands(text: str) -> list[tuple[int, str]]:
    """Every command that a page shows: in sh blocks, transcripts and running text."""
    found = shell_lines(text)
    prose, _ = split_blocks(text)
    for number, line in prose:
        transcript = re.match(r"^ {4}\$ (tacit .*)$", line)
        if transcript:
            found.append((number, transcript[1]))
        elif not line.startswith("    "):
            found += [(number, code) for code in re.findall(r"`(tacit [^`]+)`", line)]
    return found


def stages_of(command: str) -> list[list[str]]:
    """The words of a command, stage by stage of its pipe, without redirections."""
    stages: list[list[str]] = [[]]
    words = iter(shlex.split(command))
    for word in words:
        if word == "|":
            stages.append([])
        elif word in ("<", ">"):
            next(words)
        else:
            stages[-1].append(word)
    return stages


def find_command(words: list[str]) -> tuple[click.Command, list[str]]:
    """The click command that these words call, and the words left for it."""
    command: click.Command = cli
    context = click.Context(cli)
    rest = list(words)
    while isinstance(command, click.Group) and rest:
        inner = command.get_command(context, rest[0])
        if inner is None:
            break
        command, rest = inner, rest[1:]
    return command, rest


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub and MyST make it."""
    text = re.sub(r"[`*]|\[([^\]]*)\]\([^)]*\)", r"\1", heading.strip().lower())
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
