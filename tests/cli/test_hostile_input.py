"""Commands given what nobody would give them: one sentence each, which is ours, and a code."""

import pytest

LONG = "9" * 5000  # more digits than Python turns into a number


@pytest.mark.parametrize("odd", [LONG, f"-{LONG}", "--5", "²", "-", "٣"])
def test_groups_of_any_name_are_compared(tacit, tmp_path, odd):
    (tmp_path / "a.csv").write_text(f"id,cluster\n1,{odd}\n2,5\n3,{odd}\n")
    run = tacit("compare", tmp_path / "a.csv", tmp_path / "a.csv", "--json")
    assert (run.code, run.err) == (0, "3 rows matched by the column id.\n")


@pytest.mark.parametrize("semantic", [[], ["--semantic", "-k", "2"]])
def test_a_document_number_of_thousands_of_digits_is_refused_in_a_sentence(
    tacit, tmp_path, semantic
):
    (tmp_path / "a.txt").write_text("a letter from home\nthe bank of the river\nfox and dog\n")
    index = tmp_path / "a.index"
    assert tacit("index", "build", tmp_path / "a.txt", "--out", index, *semantic).code == 0
    assert tacit("index", "similar", index, "2").code == 0
    run = tacit("index", "similar", index, LONG)
    assert run.code == 2
    assert "There is no document '999" in run.err
    assert len(run.err) < 1000


def test_a_link_that_leads_nowhere_is_called_that(tacit, tmp_path):
    (tmp_path / "link.csv").symlink_to(tmp_path / "gone.csv")
    run = tacit("cluster", tmp_path / "link.csv")
    assert run.code == 4
    assert run.err.endswith("link.csv' is a symbolic link to something that is not there.\n")


def test_very_long_names_of_columns_are_cut_in_messages(tacit, tmp_path):
    (tmp_path / "a.csv").write_text("x" * 200_000 + ",y\n" + "1,2\n3,4\n" * 9)
    run = tacit("cluster", tmp_path / "a.csv", "-k", "2")
    assert run.code == 0
    assert len(run.err) < 1000
    run = tacit("cluster", tmp_path / "a.csv", "--columns", "z")
    assert run.code == 4
    assert len(run.err) < 1000


@pytest.mark.parametrize("verb", ["cluster", "counts", "compare", "recommend evaluate"])
def test_a_model_file_given_as_data_is_called_that(tacit, tmp_path, verb):
    (tmp_path / "rows.csv").write_text("1,2\n3,4\n5,6\n")
    model = tmp_path / "model.safetensors"
    assert tacit("cluster", tmp_path / "rows.csv", "-k", 2, "--model", model).code == 0
    run = tacit(*verb.split(), model, *[model] * (verb == "compare"))
    assert (run.code, run.out) == (4, "")
    assert "this is a model file" in run.err


@pytest.mark.parametrize("topics", ["²", LONG, "-1", "1e3", "\x1b[2J"])
def test_a_number_of_topics_that_is_none_is_wrong_usage(tacit, tmp_path, topics):
    (tmp_path / "a.txt").write_text("a letter\n" * 5)
    run = tacit("explore", tmp_path / "a.txt", "--plan", "--topics", topics)
    assert run.code == 2
    assert "topics" in run.err
    assert "\x1b" not in run.err
