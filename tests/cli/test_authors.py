"""``tacit authors`` as a user calls it."""

import csv
import json

import pytest

import tacit as package
from tests.style.test_authorship import AUTHORS, NEW, TEXTS


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "books"
    place.mkdir()
    for i, (author, text) in enumerate(zip(AUTHORS, TEXTS, strict=True)):
        (place / f"{author}_book_{i}.txt").write_text(text, encoding="utf8")
    return place


@pytest.fixture
def letter(tmp_path):
    path = tmp_path / "letter.txt"
    path.write_text(NEW["Bob"].replace(" ", "\n"), encoding="utf8")
    return path


def test_a_letter_goes_to_its_author(tacit, folder, letter, tmp_path):
    out, model, tree = (tmp_path / name for name in ("v.csv", "m.safetensors", "t.nwk"))
    rolled = tmp_path / "r.csv"
    run = tacit("authors", folder, "--who", letter, "--block", 300, "--json", "--out", out,
                "--model", model, "--tree", tree, "--rolling", rolled)  # fmt: skip
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    assert answer["authors"] == {"Ann": 5, "Bob": 5, "Cat": 5}
    verdict = answer["verdicts"][0]
    assert (verdict["name"], verdict["author"]) == ("letter", "Bob")
    assert 1 / 3 < verdict["probability"] < 1
    assert verdict["blocks"] == 3
    assert verdict["typicality"] > 0.1
    assert verdict["impostors_score"] > 0.5
    assert verdict["verified"] in ("yes", "open")
    with out.open(newline="", encoding="utf8") as stream:
        rows = list(csv.DictReader(stream))
    assert [row["author"] for row in rows] == ["Bob"]
    with rolled.open(newline="", encoding="utf8") as stream:
        assert {row["text"] for row in csv.DictReader(stream)} == {"letter"}
    assert tree.read_text(encoding="utf8").endswith(";\n")
    assert package.load(model).predict([NEW["Bob"]]).tolist() == ["Bob"]


def test_the_verdict_is_printed_with_its_confidence(tacit, folder, letter):
    run = tacit("authors", folder, "--who", letter, "--block", 300, "--variant", "burrows")
    assert run.code == 0
    assert "left out were attributed" in run.out
    for words in ("Ann (5)", "Distinctive words", "Probability", "Bob"):
        assert words in run.out


def test_a_picture_is_written(tacit, folder, letter, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "map.png"
    run = tacit("authors", folder, "--who", letter, "--block", 300, "--plot", path)
    assert run.code == 0
    assert path.read_bytes()[:4] == b"\x89PNG"
    assert tacit("authors", folder, "--plot", tmp_path / "map.gif").code == 2


def test_unknown_authors_are_questions_and_files_without_author_are_left_out(
    tacit, folder, letter
):
    (folder / "unknown_scroll.txt").write_text(NEW["Cat"], encoding="utf8")
    (folder / "notes.txt").write_text("the end", encoding="utf8")
    (folder / "Ann_empty.txt").write_text("", encoding="utf8")
    run = tacit("authors", folder, "--block", 300, "--json")
    assert [v["author"] for v in json.loads(run.out)["verdicts"]] == ["Cat"]
    assert "notes.txt was left out" in run.err
    assert "Ann_empty.txt has no words" in run.err


def test_a_file_of_the_folder_can_be_the_question(tacit, folder):
    path = folder / "Ann_book_0.txt"
    answer = json.loads(tacit("authors", folder, "--who", path, "--block", 300, "--json").out)
    assert answer["authors"]["Ann"] == 4
    assert [v["name"] for v in answer["verdicts"]] == ["Ann_book_0"]


def test_subfolders_name_authors(tacit, tmp_path):
    for i, (author, text) in enumerate(zip(AUTHORS, TEXTS, strict=True)):
        (tmp_path / "all" / author).mkdir(parents=True, exist_ok=True)
        (tmp_path / "all" / author / f"{i}.txt").write_text(text, encoding="utf8")
    answer = json.loads(tacit("authors", tmp_path / "all", "--json").out)
    assert answer["authors"] == {"Ann": 5, "Bob": 5, "Cat": 5}
    assert answer["verdicts"] == []


def test_a_table_names_authors_in_a_column(tacit, tmp_path):
    path = tmp_path / "texts.csv"
    with path.open("w", newline="", encoding="utf8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["title", "author", "text"])
        for i, (author, text) in enumerate(zip(AUTHORS, TEXTS, strict=True)):
            writer.writerow([f"book {i}", author, text])
        writer.writerow(["scroll", "", NEW["Ann"]])
    answer = json.loads(tacit("authors", path, "--text", "text", "--json").out)
    assert [v["author"] for v in answer["verdicts"]] == ["Ann"]
    assert tacit("authors", path, "--author", "writer").code == 2


def test_words_of_the_texts_can_be_counted(tacit, folder):
    answer = json.loads(tacit("authors", folder, "--most-frequent", "--words", 7, "--json").out)
    assert answer["words"] == 7
    run = tacit("authors", folder, "--words", 5000)
    assert run.code == 2
    assert "--most-frequent" in run.err


@pytest.mark.parametrize(
    ("names", "code", "message"),
    [
        ([], 4, "there is no file in this folder"),
        (["Ann_one.txt", "Ann_two.txt"], 4, "1 known author"),
        (["one.txt", "two.txt"], 4, "0 known author"),
    ],
)
def test_too_few_authors_are_an_error(tacit, tmp_path, names, code, message):
    for name in names:
        (tmp_path / name).write_text("the end of it", encoding="utf8")
    run = tacit("authors", tmp_path)
    assert run.code == code
    assert message in run.err


def test_a_text_unlike_all_known_ones_is_pointed_out(tacit, folder, tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("of upon on " * 300, encoding="utf8")
    run = tacit("authors", folder, "--who", path)
    assert run.code == 0
    assert "perhaps none of the authors wrote it" in run.out


def test_a_short_text_is_called_a_guess(tacit, folder, tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("the end of the road and the hill", encoding="utf8")
    run = tacit("authors", folder, "--who", path)
    assert run.code == 0
    assert "note has 8 words" in run.out


def test_bad_paths_are_errors(tacit, folder, tmp_path):
    assert tacit("authors", tmp_path / "nowhere").code == 4
    assert tacit("authors", folder, "--who", tmp_path / "nowhere.txt").code == 4
    empty = tmp_path / "empty.txt"
    empty.write_text("", encoding="utf8")
    assert tacit("authors", folder, "--who", empty).code == 4
    assert tacit("authors", empty).code in (2, 4)
    assert tacit("authors", folder, "--author", "x").code == 2
