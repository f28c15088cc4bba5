"""Images from folders and stacks, whole and damaged; arithmetic on them."""

import os
import zipfile

import numpy as np
import pytest

from tacit.core import DataError
from tacit.data.images import Images, read_images


def write_pgm(path, image, kind=b"P5", most=255):
    h, w = image.shape[:2]
    head = kind + b"\n# a comment\n%d %d\n%d\n" % (w, h, most)
    if kind in (b"P2", b"P3"):
        body = " ".join(str(int(v)) for v in image.ravel()).encode()
    else:
        body = image.astype(">u2" if most > 255 else "u1").tobytes()
    path.write_bytes(head + body)


@pytest.mark.parametrize(("kind", "most"), [(b"P5", 255), (b"P5", 1000), (b"P2", 255)])
def test_gray_images_come_back(tmp_path, kind, most):
    image = np.arange(12).reshape(3, 4) * (most // 12)
    write_pgm(tmp_path / "a.pgm", image, kind, most)
    stack = read_images(tmp_path)
    np.testing.assert_array_equal(stack.pixels[0], image)
    assert stack.names == ["a.pgm"]
    assert stack.size == (3, 4)


@pytest.mark.parametrize("kind", [b"P6", b"P3"])
def test_color_becomes_luminance(tmp_path, kind):
    image = np.zeros((2, 2, 3))
    image[0, 0] = [255, 0, 0]
    image[1, 1] = [255, 255, 255]
    write_pgm(tmp_path / "a.ppm", image, kind)
    np.testing.assert_allclose(read_images(tmp_path).pixels[0], [[76.245, 0], [0, 255]])


def test_subfolders_are_labels_and_order_is_that_of_the_names(tmp_path):
    for name in ("cat/2.pgm", "cat/1.pgm", "dog/1.pgm"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        write_pgm(tmp_path / name, np.ones((2, 2)))
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    stack = read_images(tmp_path)
    assert stack.names == ["cat/1.pgm", "cat/2.pgm", "dog/1.pgm"]
    assert stack.labels.tolist() == ["cat", "cat", "dog"]


def test_png_files_and_sizes_by_pillow(tmp_path):
    Image = pytest.importorskip("PIL.Image")
    Image.fromarray(np.full((8, 8), 100, np.uint8)).save(tmp_path / "a.png")
    Image.fromarray(np.full((4, 6, 3), 50, np.uint8)).save(tmp_path / "b.png")
    with pytest.raises(DataError, match=r"6 x 4 pixels, but a.png is 8 x 8.*size="):
        read_images(tmp_path)
    stack = read_images(tmp_path, size=(4, 4))
    assert stack.pixels.shape == (2, 4, 4)
    np.testing.assert_array_equal(np.unique(stack.pixels), [50, 100])
    (tmp_path / "c.png").write_bytes(b"no png")
    with pytest.raises(DataError, match="no image that can be read"):
        read_images(tmp_path)


def test_stacks_of_any_shape(tmp_path):
    rng = np.random.default_rng(0)
    for name, shape in {"a": (5, 4, 3), "b": (5, 4, 3, 3), "c": (5, 9)}.items():
        np.save(tmp_path / f"{name}.npy", rng.random(shape))
        assert len(read_images(tmp_path / f"{name}.npy")) == 5
    np.savez(tmp_path / "d.npz", faces=rng.random((5, 2, 2)), labels=np.arange(5))
    stack = read_images(tmp_path / "d.npz")
    assert stack.labels.tolist() == [0, 1, 2, 3, 4]
    np.testing.assert_array_equal(stack.pictures(stack.rows), stack.pixels)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.pgm", b"P5 4 4 255 short"),
        ("a.pgm", b"P9 4 4 255 "),
        ("a.pgm", b"P5 999999 999999 255 "),
        ("a.pgm", b"P5 0 4 255 "),
        ("a.pgm", b""),
    ],
)
def test_damaged_images_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=r"a\.pgm"):
        read_images(tmp_path)


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), "shape"),
        (np.ones((3, 7)), "make no square"),
        (np.ones((0, 4, 4)), "shape"),
        (np.full((2, 2, 2), np.nan), "not finite"),
        (np.array([["a", "b"]]), "not numbers"),
    ],
)
def test_what_is_no_stack_is_refused(tmp_path, array, message):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(DataError, match=message):
        read_images(tmp_path / "a.npy")


def test_pickles_are_not_opened(tmp_path):
    np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
    with pytest.raises(DataError, match="cannot be read"):
        read_images(tmp_path / "a.npy")


def test_arithmetic_on_images():
    pixels = np.random.default_rng(0).random((4, 3, 2))
    stack = Images(pixels, ["a.png", "b-2.png", "2", "d e.png"])
    np.testing.assert_allclose(
        stack.combine("0.3*a.png - .8*b-2.png"), 0.3 * pixels[0] - 0.8 * pixels[1]
    )
    np.testing.assert_allclose(stack.combine("- 3 + d e.png"), pixels[3] - pixels[2])
    np.testing.assert_allclose(stack.combine("4"), pixels[3])  # no name, so a number
    with pytest.raises(ValueError, match="There is no image 'c'"):
        stack.combine("a.png + c")


def test_a_subfolder_that_cannot_be_read_is_an_error(tmp_path, monkeypatch):
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        write_pgm(tmp_path / name / "x.pgm", np.arange(12).reshape(3, 4))
    scandir = os.scandir

    def refuse(path="."):
        if str(path).endswith("b"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(PermissionError, match="/b'"):
        read_images(tmp_path)


def test_a_link_that_leads_outside_the_folder_is_skipped_unless_followed(tmp_path):
    folder, secret = tmp_path / "faces", tmp_path / "secret.pgm"
    (folder / "old").mkdir(parents=True)
    write_pgm(secret, np.full((3, 4), 200))
    (folder / "old" / "link.pgm").symlink_to(secret)
    with pytest.raises(DataError, match="no image, only symbolic links that lead outside"):
        read_images(folder)
    write_pgm(folder / "a.pgm", np.zeros((3, 4)))
    (folder / "b.pgm").symlink_to(folder / "a.pgm")
    (tmp_path / "alias").symlink_to(folder)
    for place in (folder, tmp_path / "alias"):
        stack = read_images(place)
        assert (stack.names, stack.skipped) == (["a.pgm", "b.pgm"], ("old/link.pgm",))
        assert stack.pixels.max() == 0
    followed = read_images(folder, follow_links=True)
    assert (len(followed), followed.skipped, followed.pixels.max()) == (3, (), 200)


def test_an_archive_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "bomb.npz"
    np.savez_compressed(path, images=np.zeros((20, 300, 300), np.uint8))
    assert len(read_images(path)) == 20
    monkeypatch.setattr("tacit.data.images.BOMB_SIZE", 10**6)
    with pytest.raises(DataError, match=r"bomb\.npz: its .* unpack to 1\.8 MB.* bomb"):
        read_images(path)


def test_an_archive_of_other_things_than_arrays_is_refused(tmp_path):
    path = tmp_path / "other.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../notes.txt", b"no array")
    with pytest.raises(DataError, match="has no array of images"):
        read_images(path)


def test_a_header_with_very_long_numbers_is_refused(tmp_path):
    (tmp_path / "a.pgm").write_bytes(b"P5 " + b"9" * 5000 + b" 2 255 " + bytes(4))
    with pytest.raises(DataError, match="is no PGM or PPM image"):
        read_images(tmp_path)


@pytest.mark.parametrize("name", ["9" * 5000, "²", "-1", "0"])
def test_a_number_that_is_no_image_is_refused(name):
    with pytest.raises(ValueError, match="There is no image"):
        Images(np.zeros((2, 2, 2)), ["a", "b"]).find(name)
