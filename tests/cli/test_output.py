"""What may reach a terminal or a spreadsheet."""

import csv
import errno
import io
import sys
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.cli.output import check_target, clean, console, open_output, write_csv
from tacit.data.delimited import guard, write_rows
from tacit.neural import RBM


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x07", "link"),
        ("\x1b]0;an open title", "0;an open title"),
        ("\x9b31mred", "red"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1bcreset", "reset"),
        ("a\rb\x08\x00\x7f", "ab"),
        ("a\tb\nc", "a\tb\nc"),
        ("\u202egnp.exe\u2066", "gnp.exe"),
        ("half \ud800 a pair", "half \ufffd a pair"),
        ("schön 日本 👩‍🚀", "schön 日本 👩‍🚀"),
    ],
)
def test_text_is_cleaned_for_the_terminal(text, left):
    assert clean(text) == left


@given(st.text())
def test_nothing_that_moves_a_cursor_survives(text):
    left = clean(text)
    assert not {*map(ord, left)} & {*range(9), *range(11, 32), *range(127, 160)}
    assert clean(left) == left
    left.encode()


def test_data_is_never_markup(capsys):
    console().print("[bold red]x[/] :smile: [link=http://evil]y")
    assert capsys.readouterr().out == "[bold red]x[/] :smile: [link=http://evil]y\n"


def test_no_color_is_respected(capsys, monkeypatch):
    from rich.text import Text

    monkeypatch.setenv("FORCE_COLOR", "1")
    console().print(Text("x", "red"))
    assert "\x1b[31m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    console().print(Text("x", "red"))
    assert "\x1b[31m" not in capsys.readouterr().out


@pytest.mark.parametrize("cell", ["=1+1", "+cmd", "-x", "@SUM(A1)", "\t=1", " =1", "-", "\r=1"])
def test_cells_that_a_spreadsheet_would_run_are_quoted(cell):
    assert guard(cell) == "'" + cell


@pytest.mark.parametrize("cell", ["-1", "+2.5", "-1e-9", "-.5", "plain", "a=b", "", 3, -4.5])
def test_numbers_and_plain_cells_stay_as_they_are(cell):
    assert guard(cell) == cell


def test_csv_that_is_written_can_be_read_back():
    out = io.StringIO()
    rows = [["a,b", 'say "x"', "two\nlines", 1.5], ["", "ü", "x", -2]]
    write_rows(out, rows)
    back = list(csv.reader(io.StringIO(out.getvalue())))
    assert back == [[str(cell) for cell in row] for row in rows]


def test_a_file_is_replaced_only_when_all_went_well(tmp_path):
    target = tmp_path / "labels.csv"
    target.write_text("old")

    def fail_halfway():
        with open_output(str(target)) as stream:
            stream.write("half")
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        fail_halfway()
    assert target.read_text() == "old"
    with open_output(str(target)) as stream:
        stream.write("new ü\n")
    assert target.read_text(encoding="utf-8") == "new ü\n"
    assert [path.name for path in tmp_path.iterdir()] == ["labels.csv"]


def test_a_target_that_cannot_be_written_is_known_before_the_work(tmp_path, monkeypatch):
    check_target(None)
    check_target("-")
    check_target(str(tmp_path / "new.csv"))
    with pytest.raises(FileNotFoundError, match="no such folder"):
        check_target(str(tmp_path / "nowhere" / "new.csv"))
    with pytest.raises(IsADirectoryError):
        check_target(str(tmp_path))
    monkeypatch.setattr("tacit.cli.output.access", lambda *_: False)
    with pytest.raises(PermissionError):
        check_target(str(tmp_path / "new.csv"))


def test_a_reader_that_left_is_told_apart_from_a_fault(monkeypatch):
    class Left(io.StringIO):
        def write(self, text):
            raise BrokenPipeError

    monkeypatch.setattr(sys, "stdout", Left())
    with pytest.raises(BrokenPipeError):
        console().print("one line")


def test_cells_on_a_terminal_carry_no_escapes_and_in_a_file_stay_as_they_are(
    monkeypatch, tmp_path
):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    rows = [["1", "\x1b[31mred\x1b[0m"]]
    write_csv("-", ["id", "label"], rows)
    assert terminal.getvalue() == "id,label\n1,red\n"
    write_csv(str(tmp_path / "labels.csv"), ["id", "label"], rows)
    assert "\x1b[31mred" in (tmp_path / "labels.csv").read_text()


@pytest.mark.parametrize("command", ["cluster", "reduce", "neural"])
def test_a_picture_is_written_whole_or_not_at_all(tacit, tmp_path, monkeypatch, command):
    pytest.importorskip("matplotlib").use("Agg")
    rows, machine, picture = (tmp_path / each for each in ("a.csv", "m.safetensors", "p.png"))
    np.savetxt(rows, np.random.default_rng(0).random((40, 4)), delimiter=",")
    RBM(3, max_iter=1, random_state=0).fit(np.eye(4)).save(machine)
    arguments = {
        "cluster": ["cluster", rows, "-k", 2, "--plot", picture],
        "reduce": ["reduce", rows, "-k", 2, "--plot", picture],
        "neural": ["neural", "sample", machine, "--picture", picture, "--shape", "2x2"],
    }[command]
    assert tacit(*arguments).code == 0
    before, files = picture.read_bytes(), sorted(tmp_path.iterdir())

    def half(figure, file, **options):
        with open(file, "wb") if isinstance(file, str | Path) else nullcontext(file) as stream:
            stream.write(b"half a picture")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", half)
    assert tacit(*arguments).code == 6
    assert picture.read_bytes() == before
    assert sorted(tmp_path.iterdir()) == files
