"""``tacit neural`` as a user calls it."""

import csv
import json

import numpy as np
import pytest

import tacit as package


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows")
    rng = np.random.default_rng(0)
    rows = rng.random((200, 4))
    lines = [
        "id,a,b,c,d",
        *(f"r{i}," + ",".join(f"{x:.4f}" for x in row) for i, row in enumerate(rows)),
    ]
    (path / "rows.csv").write_text("\n".join(lines) + "\n", encoding="utf8")
    return path


def test_train_encode_and_show_an_autoencoder(folder, tacit):
    model, out = folder / "codes.safetensors", folder / "codes.csv"
    run = tacit(
        "neural", "train", folder / "rows.csv", "--layers", "8,2", "--passes", 3, "--columns",
        "a,b,c,d", "--model", model, "--json",
    )  # fmt: skip
    assert run.code == 0, run.err
    answer = json.loads(run.out)
    assert answer["passes"] == 3
    assert len(answer["losses"]) == 3
    assert package.load(model).layers == (8, 2)
    run = tacit(
        "neural", "encode", model, folder / "rows.csv", "--columns", "a,b,c,d", "--id", "id",
        "--out", out,
    )  # fmt: skip
    assert run.code == 0, run.err
    with out.open(encoding="utf8") as stream:
        rows = list(csv.reader(stream))
    assert rows[0] == ["id", "code0", "code1"]
    assert rows[1][0] == "r0"
    assert len(rows) == 201
    run = tacit("neural", "sample", model)
    assert run.code == 4
    assert "holds an Autoencoder, not a GAN or an RBM" in run.err
    run = tacit("neural", "train", folder / "rows.csv", "--layers", "8,2", "--passes", 3,
                "--columns", "a,b,c,d", "--model", model)  # fmt: skip
    assert "Reconstructions explain" in run.out
    assert "Model written to" in run.err


def test_train_and_sample_an_rbm(folder, tacit):
    pytest.importorskip("matplotlib").use("Agg")
    model, picture = folder / "machine.safetensors", folder / "samples.png"
    run = tacit("neural", "train", folder / "rows.csv", "--kind", "rbm", "--layers", 3,
                "--passes", 2, "--columns", "a,b,c,d", "--model", model)  # fmt: skip
    assert run.code == 0, run.err
    assert "Visible units: bernoulli" in run.err
    run = tacit("neural", "sample", model, "-n", 5, "--steps", 3, "--picture", picture,
                "--shape", "2x2", "--out", "-")  # fmt: skip
    assert run.code == 0, run.err
    assert len(run.out.splitlines()) == 6
    assert picture.read_bytes()[:4] == b"\x89PNG"
    first, again = (tacit("neural", "sample", model, "-n", 2, "--steps", 3, "--json")
                    for _ in range(2))  # fmt: skip
    assert json.loads(first.out) == json.loads(again.out)


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--layers", "8,x"], 2, "Write it as 64,16"),
        (["--kind", "rbm", "--layers", "8,2"], 2, "a restricted Boltzmann machine has one"),
        (["--columns", "a,zz"], 4, "zz"),
        (["--sparsity", "1.5"], 2, "sparsity"),
    ],
)
def test_wrong_usage_is_refused_with_the_way_out(folder, tacit, arguments, code, message):
    run = tacit("neural", "train", folder / "rows.csv", "--columns", "a,b", "--model",
                folder / "m.safetensors", *arguments)  # fmt: skip
    assert run.code == code
    assert message in run.err
    assert not (folder / "m.safetensors").exists()


def test_bad_files_are_refused(folder, tmp_path, tacit):
    empty = tmp_path / "empty.csv"
    empty.write_text("", encoding="utf8")
    model = tmp_path / "m.safetensors"
    assert tacit("neural", "train", empty, "--model", model).code == 4
    np.save(tmp_path / "nan.npy", np.array([[1.0, np.nan], [2.0, 3.0]]))
    run = tacit("neural", "train", tmp_path / "nan.npy", "--model", model)
    assert run.code == 4
    assert "row 1, column c1" in run.err
    model.write_bytes(b"not a model")
    assert tacit("neural", "encode", model, folder / "rows.csv").code == 4
    assert tacit("neural", "encode", tmp_path / "none", folder / "rows.csv").code == 4
