"""What stands between a stranger and the first good result: names, options, rows, mistakes."""

import json
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

ROWS = "name,x,y\n" + "".join(
    f"r{i},{i % 3 * 5 + i / 100},{i % 3 - i / 90}\n" for i in range(60)
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "lines.txt").write_text("the whale\na ship at sea\nthe white whale\n")
    rows = np.arange(60.0).reshape(30, 2)
    np.save(tmp_path / "rows.npy", rows)
    texts = [f"whale {i}" for i in range(30)]
    columns = {"text": texts, "x": rows[:, 0], "y": rows[:, 1]}
    pq.write_table(pa.table(columns), tmp_path / "rows.parquet")
    (tmp_path / "words.csv").write_text("text,kind\nthe white whale,a\na ship at sea,b\n")
    (tmp_path / "numbers.json").write_text('[{"x": 1.5}, {"x": 2.5}]')
    (tmp_path / "page.html").write_text("<!doctype html>\n<table><tr><td>1</table>")
    prose = "Dear Ann, thank you\x92 for the letter.\nIt came today.\n"  # a stray control
    (tmp_path / "prose.txt").write_text(prose)
    (tmp_path / "array.jsonl").write_text('[{"text": "the whale"}]\n')
    with zipfile.ZipFile(tmp_path / "sheet.xlsx", "w") as sheet:
        sheet.writestr("xl/workbook.xml", "<workbook/>")
    (tmp_path / "texts").mkdir()
    (tmp_path / "texts" / "ann_1.txt").write_text("the whale")
    return tmp_path


# --- Projects and their sources ---


def letters(word):
    return "".join(f"{word} number {i} of the harbor\n" for i in range(12))


def test_another_source_of_the_same_name_is_refused_and_nothing_is_lost(here, tacit):
    for year in ("y1", "y2"):
        (here / year).mkdir()
        (here / year / "posts.txt").write_text(letters(year))
    first = tacit("explore", "y1/posts.txt", "--stages", "counts", "-q")
    assert first.code == 0
    before = (here / "posts.tacit" / "project.json").read_bytes()
    run = tacit("explore", "y2/posts.txt", "--stages", "counts", "-q")
    assert run.code == 4
    assert f"the project of {here / 'y1' / 'posts.txt'}" in run.err
    assert "--out posts_2.tacit" in run.err
    assert (here / "posts.tacit" / "project.json").read_bytes() == before
    out = tacit("explore", "y2/posts.txt", "--stages", "counts", "-q", "--out", "other.tacit")
    assert out.code == 0


def test_a_source_that_changed_or_moved_with_its_project_is_the_same(here, tacit):
    home = here / "a"
    home.mkdir()
    (home / "posts.txt").write_text(letters("first"))
    assert tacit("explore", "a/posts.txt", "--stages", "counts", "-q", "--out",
                 "a/p.tacit").code == 0  # fmt: skip
    (home / "posts.txt").write_text(letters("second"))
    home.rename(here / "b")
    assert tacit("explore", "b/posts.txt", "--stages", "counts", "-q", "--out",
                 "b/p.tacit").code == 0  # fmt: skip


# --- Options that cannot apply ---


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (["counts", "lines.txt", "--text", "body"], "--text names a column of a table"),
        (["counts", "lines.txt", "--follow-links"], "--follow-links is for folders"),
        (["explore", "lines.txt", "--quick", "--thorough"], "contradict each other"),
        (["index", "build", "lines.txt", "--out", "i", "--components", "100"],
         "--components is for an index by meaning: add --semantic"),
        (["lm", "train", "lines.txt", "--out", "m", "--add", "1"], "--add goes with"),
        (["cluster", "rows.csv", "-k", "2", "--k-max", "5"], "--k-max limits what auto tries"),
        (["reduce", "rows.csv", "--metric", "cosine"], "is for the methods of distances"),
        (["words", "train", "lines.txt", "--out", "w", "--method", "ppmi", "--epochs", "2"],
         "--epochs is for word2vec"),
        (["recommend", "train", "rows.csv", "--out", "r", "--model", "mean", "--factors", "4"],
         "--factors is for als, sgd and implicit"),
        (["cluster", "rows.npy", "-k", "2", "--header"], "rows.npy is a NumPy file"),
        (["cluster", "rows.parquet", "--no-header"], "rows.parquet is a Parquet file"),
        (["counts", "rows.parquet", "--encoding", "latin-1"], "--encoding is for text"),
        (["counts", "rows.csv", "--text", "name", "--duplicate-keys", "last"],
         "--duplicate-keys is for JSON"),
        (["counts", "texts", "--format", "csv"], "--format is for a file"),
        (["explore", "--docs", "--oversize", "skip"], "--oversize is for a PATH"),
        (["authors", "texts", "--out", "-", "--rolling", "-"], "both want standard output"),
    ],
)  # fmt: skip
def test_an_option_that_cannot_apply_is_refused(here, tacit, command, said):
    run = tacit(*command)
    assert run.code == 2
    assert said in run.err


# --- Mistakes ---


@pytest.mark.parametrize(
    ("command", "code", "said"),
    [
        (["clust", "rows.csv"], 2, "Did you mean 'cluster'?"),
        (["cluster", "rows.csv", "--method", "kmeens"], 2, "Did you mean 'kmeans'?"),
        (["index", "serch", "i", "whale"], 2, "There is no command 'serch'. Did you mean"),
        (["lm", "trian", "lines.txt"], 2, "Did you mean 'train'?"),
        (["cluster", "row.csv"], 4, "Did you mean 'rows.csv'?"),
        (["cluster", "rows.csv", "--columns", "x,nam"], 4, "Did you mean 'name'?"),
        (["topics", "shwo", "m"], 2, "Did you mean 'show'?"),
        (["demo", "kmaens"], 2, "Did you mean 'kmeans'?"),
        (["model", "show", "rows.csv"], 4, "rows.csv is a table (CSV), not a model"),
        (["lm", "next", "lines.txt", "the"], 4, "lines.txt is text, not a model"),
        (["cluster", "."], 4, "For a folder of documents use: tacit explore ."),
        (["lm", "train", "lines.txt", "--smoothing", "knesr"], 2, "Did you mean 'kneser-ney'?"),
        (["counts", "lines.txt", "--min-df", "9"], 4, "no term can be in 9 documents"),
        (["senses", "kraken", "lines.txt"], 4, "'kraken' does not occur in the documents"),
        (["compare", "rows.csv", "rows.csv"], 4, "Name one with --label-a."),
        (["explore", "rows.csv"], 4, "Group its rows with: tacit cluster rows.csv"),
        (["explore", "numbers.json"], 4, "Write it as CSV, then group its rows"),
        (["explore", "array.jsonl"], 4, "holds an array, not an object or a string. Write one "
         "object per line; --format json reads a file that is one array."),
        (["explore", "sheet.xlsx"], 4, "sheet.xlsx: this is a spreadsheet. Save it as CSV."),
        (["cluster", "words.csv"], 4, "For documents use: tacit explore words.csv"),
        (["cluster", "numbers.json"], 4, "this is JSON. Write its rows as CSV or Parquet, for "
         "example with pandas. For documents use: tacit explore numbers.json"),
        (["cluster", "page.html"], 4, "this is a web page or XML. Save its table as CSV."),
        (["cluster", "prose.txt"], 4, "line 2 has 1 cell where the header has 2. Correct it; "
         "cells that hold the separator need quotes. For documents use: tacit explore"),
        (["recommend", "train", "numbers.json", "--out", "r"], 4, "this is JSON. Write its"),
        (["model", "show", "prose.txt"], 4, "prose.txt is text, not a model"),
        (["cluster", "sheet.xlsx"], 4, "sheet.xlsx: this is a spreadsheet. Save it as CSV."),
        (["index", "search", "line.txt", "whale"], 4, "Did you mean 'lines.txt'?"),
        (["recommend", "for", "row.csv", "ann"], 4, "Did you mean 'rows.csv'?"),
        (["recommend", "train", "row.csv", "--out", "r"], 4, "Did you mean 'rows.csv'?"),
        (["words", "near", "line.txt", "whale"], 4, "Did you mean 'lines.txt'?"),
        (["serve", "text"], 4, "Did you mean 'texts'?"),
        (["report", "text"], 4, "Did you mean 'texts'?"),
        (["topics", "words.csv", "--by", "knd"], 2, "Did you mean 'kind'? Besides the text "
         "there is kind."),
        (["classify", "train", "words.csv", "--label", "text", "--out", "m"], 2,
         "'text' is the column of the text. Besides the text there is kind."),
        (["authors", "words.csv"], 2, "which column holds the authors?"),
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(here, tacit, command, code, said):
    run = tacit(*command)
    assert run.code == code
    assert said in run.err


def test_a_column_of_words_is_explored_if_it_is_named(here, tacit):
    assert tacit("explore", "rows.csv", "--text", "name", "--plan").code == 0


def test_a_mistyped_id_of_an_index_is_answered_with_one_that_is_there(here, tacit):
    (here / "ids.csv").write_text("id,text\nmoby,the white whale\nahab,a ship at sea\n")
    assert tacit("index", "build", "ids.csv", "--out", "i", "-q").code == 0
    run = tacit("index", "similar", "i", "mobby")
    assert run.code == 2
    assert "There is no document 'mobby' in the index. Did you mean 'moby'?" in run.err


def test_a_model_of_another_kind_has_its_article(here, tacit):
    assert tacit("lm", "train", "lines.txt", "--out", "m", "-q").code == 0
    run = tacit("topics", "show", "m")
    assert run.code == 4
    assert "m holds an NGramModel, not a topic model" in run.err


def test_a_user_who_has_rated_all_is_told_so(here, tacit):
    ratings = [f"u{i % 4},i{i % 3},{1 + i % 5}\n" for i in range(12)]
    (here / "ratings.csv").write_text("user,item,rating\n" + "".join(ratings))
    assert tacit("recommend", "train", "ratings.csv", "-k", "2", "--out", "r", "-q").code == 0
    run = tacit("recommend", "for", "r", "u1")
    assert run.out == "u1 has rated every item; --all includes those.\n"
    assert "i2" in tacit("recommend", "for", "r", "u1", "--all").out


def test_a_warning_about_a_rejected_number_of_components_is_not_shown(here, tacit):
    (here / "few.csv").write_text("x,y\n" + "".join(f"{i % 3},{i % 2}\n" for i in range(12)))
    chosen = tacit("mixture", "few.csv", "-k", "6", "-q")
    assert "Lower -k." in chosen.err
    one = tacit("mixture", "rows.csv", "--k-max", "1", "-q")
    assert one.err == ""


def test_a_column_that_numbers_the_rows_is_noted(here, tacit):
    rows = "".join(f"{i + 1},{i % 3},{i + 5}\n" for i in range(20))
    (here / "cases.csv").write_text(f"case,x,later\n{rows}")
    note = "Column case numbers the rows but was used as data; --id case uses it as ids."
    run = tacit("cluster", "cases.csv", "-k", "2")
    assert note in run.err
    assert "Column later" not in run.err
    assert note not in tacit("cluster", "cases.csv", "-k", "2", "--columns", "case,x").err
    assert note not in tacit("cluster", "cases.csv", "-k", "2", "--id", "case").err


# --- Search by meaning ---


def test_a_search_by_meaning_refuses_not_and_says_what_it_ignores(here, tacit):
    texts = [f"the {w} swims in the cold sea with a ship" for w in ("whale", "shark", "seal")]
    (here / "sea.txt").write_text("\n".join(texts * 4))
    built = tacit("index", "build", "sea.txt", "--semantic", "-k", "2", "--out", "i", "-q")
    assert built.code == 0
    for query in (["whale AND NOT shark"], ["--", "whale", "-shark"]):
        refused = tacit("index", "search", "i", *query)
        assert refused.code == 2
        assert "An index by meaning cannot exclude words" in refused.err
    plain = json.loads(tacit("index", "search", "i", "whale ship", "--json").out)
    run = tacit("index", "search", "i", '(whale AND "ship")', "--json")
    result = json.loads(run.out)
    assert result["hits"] == plain["hits"]
    assert result["notes"] == [
        "Ignored: AND, quotes, parentheses. A search by meaning uses all words together."
    ]


# --- Rows, starts, arrays ---


def test_rows_without_ids_count_from_one_everywhere(here, tacit):
    assert tacit("index", "build", "lines.txt", "--out", "i", "-q").code == 0
    result = json.loads(tacit("index", "search", "i", "ship", "--json").out)
    assert [hit["id"] for hit in result["hits"]] == ["2"]
    grouped = tacit("cluster", "rows.csv", "-k", "2", "-q", "--out", "-").out
    assert grouped.splitlines()[1].startswith("1,")
    copies = tacit("index", "duplicates", "lines.txt", "-q", "--out", "-").out
    assert copies.splitlines()[1] == "1,"


def test_a_given_k_gets_as_many_starts_as_a_chosen_one(here, tacit):
    chosen = json.loads(tacit("cluster", "rows.csv", "--k-max", "4", "--json").out)
    fixed = json.loads(tacit("cluster", "rows.csv", "-k", chosen["k"], "--json").out)
    assert fixed["inertia"] == chosen["inertia"]
    assert fixed["clusters"] == chosen["clusters"]


def test_a_json_array_is_read_as_documents(here, tacit):
    (here / "a.json").write_text(json.dumps([{"text": "the whale"}, {"text": "a ship"}]))
    run = tacit("counts", "a.json", "--json")
    assert json.loads(run.out)["documents"] == 2


def test_the_plan_before_a_run_has_three_lines_at_most(here, tacit):
    run = tacit("explore", "lines.txt", "--stages", "counts")
    plan = run.err.partition("1/")[0].splitlines()
    assert plan[0] == "lines.txt: 3 documents."
    assert 1 < len(plan) - 1 <= 3
    text = tacit("explore", "lines.txt", "--stages", "counts", "--plan").out
    assert "Counting words" in text


def test_completions_are_given_the_letters_that_are_there(here, tacit):
    (here / "t.txt").write_text("the cat\nthe cat\nthe cat\nthe car\nthe dog\n" * 4)
    assert tacit("lm", "train", "t.txt", "--order", "2", "--smoothing", "mle", "--out", "m",
                 "-q").code == 0  # fmt: skip
    result = json.loads(tacit("lm", "complete", "m", "the ca", "--json").out)["completions"]
    assert [each["text"] for each in result] == ["the cat", "the car"]
    assert [each["probability"] for each in result] == pytest.approx([0.75, 0.25], rel=1e-6)
