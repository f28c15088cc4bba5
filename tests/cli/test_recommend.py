"""tacit recommend: train, evaluate, for, similar, explain; bad input."""

import json

import pytest

ROWS = [
    f"u{u},film {i},{5 if (u + i) % 2 else 2}"
    for u in range(12)
    for i in range(9)
    if u % 9 != i
]
CSV = ("user,item,rating\n" + "\n".join(ROWS) + "\n").encode()


@pytest.fixture
def model(tacit, tmp_path):
    path = tmp_path / "m.safetensors"
    run = tacit("recommend", "train", "-", "--factors", 2, "--out", path, stdin=CSV)
    assert run.code == 0, run.err
    return path


@pytest.mark.parametrize(
    "kind", ["als", "sgd", "implicit", "knn", "biases", "popularity", "mean"]
)
def test_every_model_is_trained_and_recommends(tacit, tmp_path, kind):
    path = tmp_path / "m.safetensors"
    run = tacit("recommend", "train", "-", "--model", kind, "--out", path, "--json", stdin=CSV)
    assert run.code == 0, run.err
    assert json.loads(run.out)["ratings"] == len(ROWS)
    shown = tacit("recommend", "for", path, "u10", "--json")
    assert shown.code == 0, shown.err
    assert [each["id"] for each in json.loads(shown.out)["ranked"]] == ["film 1"]


def test_recommendations_have_names(tacit, model, tmp_path):
    (tmp_path / "names.csv").write_text("id,name\nfilm 0,Alien\n")
    run = tacit("recommend", "for", model, "u0", "--names", tmp_path / "names.csv")
    assert run.code == 0
    assert "Alien (film 0)" in run.out


def test_an_unknown_user_gets_what_is_good_for_anyone_and_a_note(tacit, model):
    run = tacit("recommend", "for", model, "stranger", "--top", 2)
    assert run.code == 0
    assert "User 'stranger' is unknown" in run.err


def test_similar_and_explain_print_tables_and_json(tacit, model):
    run = tacit("recommend", "similar", model, "film 1", "--top", 2, "--json")
    assert {each["id"] for each in json.loads(run.out)["ranked"]} <= {
        f"film {each}" for each in range(9)
    }
    assert tacit("recommend", "similar", model, "u1", "--users").code == 0
    why = json.loads(tacit("recommend", "explain", model, "u0", "film 3", "--json").out)
    assert why["support"]
    assert "all other ratings" in tacit("recommend", "explain", model, "u0", "film 3").out


def test_evaluation_prints_every_model_and_the_protocol(tacit, tmp_path):
    path = tmp_path / "r.csv"
    path.write_bytes(CSV)
    run = tacit("recommend", "evaluate", path, "--folds", 2, "--factors", 2, "--top", 3)
    assert run.code == 0, run.err
    assert "Full rankings of all 9 items" in run.out
    result = json.loads(tacit("recommend", "evaluate", path, "--folds", 2, "--json").out)
    assert {*result["models"]} == {"mean", "biases", "popularity", "als"}
    assert result["models"]["popularity"]["rmse"] is None


def test_wrong_ids_and_files_have_their_exit_codes(tacit, model, tmp_path):
    assert tacit("recommend", "similar", model, "nothing").code == 2
    assert tacit("recommend", "explain", model, "u0", "nothing").code == 2
    assert tacit("recommend", "for", tmp_path / "absent", "u0").code == 4
    damaged = tmp_path / "damaged.safetensors"
    damaged.write_bytes(model.read_bytes()[:-20])
    assert tacit("recommend", "for", damaged, "u0").code == 4


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "empty"),
        (b"user,item,rating\n", "no ratings follow"),
        (b"who,what,stars\nann,Alien,4\n", "which column is the user"),
        (b"user,item,rating\nann,Alien,nan\n", "missing"),
        (b"user,item,rating\nann,Alien,lots\n", "not a number"),
    ],
)
def test_bad_ratings_exit_with_4_and_the_reason(tacit, tmp_path, content, words):
    out = tmp_path / "m.safetensors"
    run = tacit("recommend", "train", "-", "--out", out, stdin=content)
    assert run.code == 4
    assert words in run.err
    assert not out.exists()


def test_ctrl_c_keeps_the_model_and_exits_with_130(tacit, tmp_path, monkeypatch):
    from tacit.recommend import als

    solved = als.Alternation.update
    calls = []

    def interrupted(self, params, stats):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return solved(self, params, stats)

    monkeypatch.setattr(als.Alternation, "update", interrupted)
    out = tmp_path / "m.safetensors"
    run = tacit("recommend", "train", "-", "--out", out, stdin=CSV)
    assert run.code == 130
    assert out.exists()
    assert tacit("recommend", "for", out, "u0").code == 0
