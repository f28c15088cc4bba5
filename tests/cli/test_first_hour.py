"""What stands between a stranger and the first good result: names, options, rows, mistakes."""

import json

import pytest

ROWS = "name,x,y\n" + "".join(
    f"r{i},{i % 3 * 5 + i / 100},{i % 3 - i / 90}\n" for i in range(60)
)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "rows.csv").write_text(ROWS)
    (tmp_path / "lines.txt").write_text("the whale\na ship at sea\nthe white whale\n")
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
    ],
)
def test_a_mistake_is_answered_with_what_was_meant(here, tacit, command, code, said):
    run = tacit(*command)
    assert run.code == code
    assert said in run.err


def test_a_column_of_words_is_explored_if_it_is_named(here, tacit):
    assert tacit("explore", "rows.csv", "--text", "name", "--plan").code == 0


# --- Rows, starts, arrays ---


def test_rows_without_ids_count_from_one_everywhere(here, tacit):
    assert tacit("index", "build", "lines.txt", "--out", "i", "-q").code == 0
    found = json.loads(tacit("index", "search", "i", "ship", "--json").out)
    assert [hit["id"] for hit in found["hits"]] == ["2"]
    grouped = tacit("cluster", "rows.csv", "-k", "2", "-q", "--out", "-").out
    assert grouped.splitlines()[1].startswith("1,")
    copies = tacit("index", "duplicates", "lines.txt", "-q", "--out", "-").out
    assert copies.splitlines()[1] == "1,"


def test_a_given_k_gets_as_many_starts_as_a_chosen_one(here, tacit):
    chosen = json.loads(tacit("cluster", "rows.csv", "--k-max", "4", "--json").out)
    given = json.loads(tacit("cluster", "rows.csv", "-k", chosen["k"], "--json").out)
    assert given["inertia"] == chosen["inertia"]
    assert given["clusters"] == chosen["clusters"]


def test_a_json_array_is_read_as_documents(here, tacit):
    (here / "a.json").write_text(json.dumps([{"text": "the whale"}, {"text": "a ship"}]))
    run = tacit("counts", "a.json", "--json")
    assert json.loads(run.out)["documents"] == 2


def test_the_plan_before_a_run_has_three_lines_at_most(here, tacit):
    run = tacit("explore", "lines.txt", "--stages", "counts")
    plan = run.err.partition("1/")[0].splitlines()
    assert plan[0] == "lines.txt: 3 documents."
    assert 1 < len(plan) - 1 <= 3
    whole = tacit("explore", "lines.txt", "--stages", "counts", "--plan").out
    assert "Counting words" in whole


def test_completions_are_given_the_letters_that_are_there(here, tacit):
    (here / "t.txt").write_text("the cat\nthe cat\nthe cat\nthe car\nthe dog\n" * 4)
    assert tacit("lm", "train", "t.txt", "--order", "2", "--smoothing", "mle", "--out", "m",
                 "-q").code == 0  # fmt: skip
    found = json.loads(tacit("lm", "complete", "m", "the ca", "--json").out)["completions"]
    assert [each["text"] for each in found] == ["the cat", "the car"]
    assert [each["probability"] for each in found] == pytest.approx([0.75, 0.25], rel=1e-6)
