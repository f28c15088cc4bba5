"""``tacit images`` as a user calls it."""

import json
import os
from pathlib import Path

import numpy as np
import pytest

import tacit as package

DATA = Path(os.environ.get("TACIT_DATA", ""))


@pytest.fixture
def faces(tmp_path):
    """Two kinds of pictures, twelve of each."""
    rng = np.random.default_rng(0)
    left, right = np.zeros((2, 8, 6))
    left[:, :3], right[:, 3:] = 200.0, 200.0
    stack = np.stack([*(left,) * 12, *(right,) * 12]) + rng.normal(0, 10, (24, 8, 6))
    path = tmp_path / "faces.npz"
    np.savez(path, images=stack, target=np.repeat([0, 1], 12))
    return path


def test_loss_and_recognition_at_every_rank(tacit, faces):
    run = tacit("images", faces, "--ranks", "1,4", "--near", "3", "--json", "--top", 4)
    assert run.code == 0
    answer = json.loads(run.out)
    assert (answer["images"], answer["height"], answer["width"]) == (24, 8, 6)
    assert answer["ranks"]["1"]["lost"] > answer["ranks"]["4"]["lost"]
    assert answer["ranks"]["1"]["recognized"] == 1.0
    assert len(answer["near"]) == 4
    assert all(int(each["image"]) <= 12 for each in answer["near"])
    table = tacit("images", faces, "--ranks", "1,4", "--near", "3")
    assert "Nearest has the same label" in table.out
    assert "Nearest to 3" in table.out


def test_contact_sheets_and_the_model(tacit, faces, tmp_path):
    pytest.importorskip("matplotlib")
    out = tmp_path / "out"
    run = tacit("images", faces, "--ranks", "2", "--near", "1", "--combine", "0.5*1 + 0.5*24",
                "--out", out)  # fmt: skip
    assert run.code == 0
    names = {each.name for each in out.iterdir()}
    assert names == {
        "components.png", "reconstructions.png", "error.png", "neighbors.png",
        "combination.png", "coordinates.csv", "model.safetensors",
    }  # fmt: skip
    assert package.load(out / "model.safetensors").n_components_ == 2
    assert len((out / "coordinates.csv").read_text().splitlines()) == 25


def test_more_ranks_than_images_are_lowered(tacit, faces):
    run = tacit("images", faces)
    assert run.code == 0
    assert "at most 23 components; the ranks are [16, 23]" in run.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--near", "99"], 4, "There is no image '99'"),
        (["--ranks", "a,b"], 2, "is not a list of numbers"),
        (["--size", "big"], 2, "is not the size of an image"),
        (["--combine", "1 + 2"], 2, "--combine needs a folder"),
    ],
)
def test_wrong_options_are_refused(tacit, faces, arguments, code, message):
    run = tacit("images", faces, *arguments)
    assert run.code == code
    assert message in run.err


def test_links_that_lead_outside_the_folder_are_followed_on_request(tacit, tmp_path, faces):
    folder = tmp_path / "folder"
    folder.mkdir()
    for i in range(4):
        place = folder if i < 3 else tmp_path
        (place / f"{i}.pgm").write_bytes(b"P5 2 2 255 " + bytes([i, 9, 0, i * i]))
    (folder / "link.pgm").symlink_to(tmp_path / "3.pgm")
    run = tacit("images", folder, "--json")
    assert (run.code, json.loads(run.out)["images"]) == (0, 3)
    assert "Skipped 1 symbolic link leading outside the folder (link.pgm)" in run.err
    run = tacit("images", folder, "--json", "--follow-links")
    assert (run.code, json.loads(run.out)["images"]) == (0, 4)
    assert "symbolic" not in run.err
    assert tacit("images", faces, "--follow-links").code == 2


def test_bad_sources_are_refused(tacit, tmp_path):
    assert tacit("images", tmp_path / "absent").code == 4
    assert tacit("images", tmp_path).code == 4  # a folder without images
    damaged = tmp_path / "damaged.npz"
    damaged.write_bytes(b"PK\x03\x04 nothing")
    run = tacit("images", damaged)
    assert run.code == 4
    one = tmp_path / "one.npy"
    np.save(one, np.ones((1, 4, 4)))
    run = tacit("images", one)
    assert run.code == 4
    assert "one image" in run.err


@pytest.mark.skipif(
    "TACIT_DATA" not in os.environ or not (DATA / "olivetti").is_dir(),
    reason="TACIT_DATA with the set olivetti is needed",
)
def test_faces_are_recognized(tacit):
    run = tacit("images", DATA / "olivetti" / "olivetti.npz", "--ranks", "64", "--json")
    answer = json.loads(run.out)
    assert answer["ranks"]["64"]["recognized"] > 0.94
    assert answer["ranks"]["64"]["lost"] < 0.12
