"""A fit that was cut off goes on and ends with the same bits."""

import os
import signal
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest

from tacit.core import Checkpoint, ModelFileError, Serial, Stats, Threads, iterate
from tacit.core import checkpoint as module
from tacit.core.checkpoint import begin, finish
from tacit.core.progress import Step
from tacit.core.tensorfile import open_tensors, write_tensors
from tacit.data import Table

# --- A small summable model: k-means by hand ---


class Frame(NamedTuple):
    scale: np.float32
    dtype: np.dtype
    reach: np.ndarray  # holds inf


class Params(NamedTuple):
    centers: np.ndarray
    moved: float
    step: int
    frame: Frame
    note: object = None


@dataclass(frozen=True)
class Sums(Stats):
    rows: int
    loss: float
    counts: np.ndarray
    sums: np.ndarray


def collect(params, block):
    distances = ((block[:, None, :] - params.centers) ** 2).sum(axis=2)
    labels = distances.argmin(axis=1)
    hot = np.eye(len(params.centers))[labels]
    return Sums(len(block), distances.min(axis=1).sum(), hot.sum(axis=0), hot.T @ block)


def update(params, stats):
    centers = stats.sums / np.maximum(stats.counts, 1)[:, None]
    moved = float(np.abs(centers - params.centers).max())
    return params._replace(centers=centers, moved=moved, step=params.step + 1)


ROWS = np.random.RandomState(3).normal(size=(400, 3)) ** 3
TABLE = Table.from_array(ROWS, block_rows=64)
FRAME = Frame(np.float32(0.1), np.dtype("f4"), np.array([1.0, np.inf]))
START = Params(ROWS[:6], float("inf"), 0, FRAME)
LIMITS = {"tol": 1e-9, "max_iter": 60}


def fit(*callbacks, start=START, engine=Serial(), **limits):  # noqa: B008
    return iterate(
        start, collect, update, TABLE, engine, callbacks=callbacks, **{**LIMITS, **limits}
    )


def same_bits(one, other):
    assert one.params.centers.tobytes() == other.params.centers.tobytes()
    assert np.array(one.losses).tobytes() == np.array(other.losses).tobytes()
    assert one.converged == other.converged
    assert one.params.step == other.params.step
    assert one.params.moved == other.params.moved
    assert one.params.frame.dtype == other.params.frame.dtype
    assert one.params.frame.reach.tobytes() == other.params.frame.reach.tobytes()
    assert one.params.note is other.params.note is None


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


@pytest.fixture
def whole():
    """The fit that nothing interrupted."""
    result = fit()
    assert result.converged
    assert len(result.losses) > 8
    return result


def bound(path, key="data 1, settings 2", **options):
    created = Checkpoint(path, **options)
    created.bind(key)
    return created


class StopAt:
    def __init__(self, number):
        self.number = number

    def on_step(self, step):
        return step.number >= self.number


class InterruptAt(StopAt):
    def on_step(self, step):
        if step.number >= self.number:
            raise KeyboardInterrupt


# --- Resuming ---


@pytest.mark.parametrize("number", [0, 1, 3, 7])
def test_a_stopped_fit_resumes_with_the_same_bits(path, whole, number):
    stopped = fit(bound(path, every=0), StopAt(number))
    assert len(stopped.losses) == number + 1
    again = fit(bound(path))
    same_bits(again, whole)


@pytest.mark.parametrize("number", [0, 3])
def test_an_interrupted_fit_resumes_with_the_same_bits_on_another_engine(path, whole, number):
    with pytest.raises(KeyboardInterrupt):
        fit(bound(path, every=0), InterruptAt(number))
    same_bits(fit(bound(path), engine=Threads(2)), whole)


def test_a_fit_may_be_cut_off_after_every_single_step(path, whole):
    for number in range(1, len(whole.losses) - 1):
        with pytest.raises(KeyboardInterrupt):
            fit(bound(path, every=0), InterruptAt(number))
    same_bits(fit(bound(path, every=0)), whole)


def test_the_resumed_fit_does_not_start_over(path, whole):
    fit(bound(path, every=0), StopAt(5))
    notified = []
    fit(bound(path), lambda step: notified.append(step.number))
    assert notified[0] == 5
    assert notified[-1] == len(whole.losses) - 1


def test_a_fit_that_ran_out_of_passes_resumes_to_the_same_end(path):
    plain = fit(max_iter=6)
    fit(bound(path, every=0), StopAt(5), max_iter=6)
    same_bits(fit(bound(path), max_iter=6), plain)
    assert not plain.converged


def test_resuming_after_the_loop_has_converged_converges_again_at_the_same_place(path, whole):
    """The process may die between the end of the loop and the end of fit."""
    fit(bound(path, every=1e9))
    assert path.exists()
    same_bits(fit(bound(path)), whole)


def test_without_a_file_the_fit_starts_from_the_beginning(path, whole):
    same_bits(fit(bound(path)), whole)


def test_kill_9_in_the_middle_loses_nothing_that_was_written(path, whole):
    """A child runs slowly, is killed, and this process takes over."""
    program = f"""
        import importlib.util, sys, time
        spec = importlib.util.spec_from_file_location({__name__!r}, {__file__!r})
        test = importlib.util.module_from_spec(spec)
        sys.modules[{__name__!r}] = test
        spec.loader.exec_module(test)
        def slow(step):
            time.sleep(0.02 if step.number < 3 else 60)
        test.fit(test.bound(sys.argv[1], every=0), slow)
    """
    child = subprocess.Popen([sys.executable, "-c", textwrap.dedent(program), path])
    try:
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and child.poll() is None:
            # Replaced as a whole: whenever one looks, the file is complete.
            if path.exists() and bound(path).resume(START)[0].step >= 2:
                break
            time.sleep(0.005)
        child.send_signal(signal.SIGKILL)
    finally:
        child.kill()
        assert child.wait() == -signal.SIGKILL
    notified = []
    again = fit(bound(path), lambda step: notified.append(step.number))
    assert notified[0] >= 2
    same_bits(again, whole)


# --- When it writes, and when the file goes ---


def test_it_writes_no_more_often_than_asked(path, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    created, written = bound(path, every=30), []
    for number in range(7):
        created.on_step(Step("KMeans", number, 9, [1.0] * (number + 1), START))
        if path.exists():
            written.append(number)
            path.unlink()
        now[0] += 12
    assert written == [3, 6]


def test_the_step_before_the_last_is_written_when_the_loop_ends(path, whole):
    created = bound(path, every=1e9)
    fit(created)
    params, losses = bound(path).resume(START)
    assert params.step == whole.params.step - 1
    assert losses == whole.losses[:-2]


def test_what_is_left_unwritten_is_written_on_close_and_only_once(path):
    created = bound(path, every=1e9)
    created.on_step(Step("KMeans", 2, 9, [3.0, 2.0, 1.0], START))
    assert not path.exists()
    created.close()
    assert bound(path).resume(START)[1] == [3.0, 2.0]
    path.unlink()
    created.close()
    assert not path.exists()


def test_a_finished_fit_takes_its_files_away(path):
    created = Checkpoint(path, every=0)
    for part in range(3):
        begin([created, print], "key", part)
        fit(created)
    assert sorted(p.name for p in path.parent.iterdir()) == [
        "fit.checkpoint", "fit.checkpoint.1", "fit.checkpoint.2"
    ]  # fmt: skip
    finish([created, print])
    assert os.listdir(path.parent) == []


def test_a_fit_that_was_stopped_keeps_its_file(path, whole):
    created = bound(path, every=1e9)
    fit(created, StopAt(4))
    finish([created])
    assert len(bound(path).resume(START)[1]) == 4
    same_bits(fit(bound(path)), whole)


def test_each_run_of_a_fit_resumes_from_its_own_file(path):
    """n_init: the second of three runs is cut off; the first must not take its state."""
    starts = [START, START._replace(centers=ROWS[10:16]), START._replace(centers=ROWS[20:26])]
    plain = [fit(start=start) for start in starts]

    def runs(stop):
        created = Checkpoint(path, every=0)
        for part, start in enumerate(starts):
            begin([created], "key", part)
            yield fit(created, *([stop] if part == 1 else []), start=start)
        finish([created])

    attempt = runs(InterruptAt(2))
    same_bits(next(attempt), plain[0])
    with pytest.raises(KeyboardInterrupt):
        next(attempt)
    for again, expected in zip(runs(StopAt(1e9)), plain, strict=True):
        same_bits(again, expected)
    assert os.listdir(path.parent) == []


def test_a_full_disk_is_a_warning_and_the_fit_goes_on(path, whole, monkeypatch):
    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "write_tensors", fail)
    with pytest.warns(RuntimeWarning, match="could not be written .*No space"):
        same_bits(fit(bound(path, every=0)), whole)


# --- Files that are not this fit's ---


@pytest.fixture
def written(path):
    fit(bound(path, every=0), StopAt(2))
    return path


def refused(path, match, start=START, key="data 1, settings 2"):
    with pytest.raises(ModelFileError, match=match) as caught:
        bound(path, key).resume(start)
    message = str(caught.value)
    assert message.startswith(str(path))
    assert message.endswith("Delete it to start afresh, or choose another path.")
    assert path.exists()


def test_another_fit_is_refused(written):
    refused(written, "belongs to another fit", key="data 9")


@pytest.mark.parametrize(
    "start",
    [
        START._replace(centers=ROWS[:5]),
        START._replace(centers=ROWS[:6].astype("f4")),
        START._replace(centers=3.0),
        START._replace(step="two"),
        START._replace(frame=3.0),
        START._replace(frame=FRAME._replace(reach=np.zeros(3))),
        START._replace(moved=FRAME),
        FRAME,
    ],
)
def test_params_of_another_form_are_refused(written, start):
    refused(written, "params of another form", start=start)


def test_a_part_that_was_none_at_the_start_may_have_been_filled_in(written):
    start = START._replace(frame=FRAME._replace(dtype=None))
    params, _ = bound(written).resume(start)
    assert params.frame.dtype == FRAME.dtype


def test_another_class_of_params_is_refused_by_name(written):
    class Other(NamedTuple):
        centers: np.ndarray
        moved: float
        step: int
        frame: Frame
        note: object = None

    refused(written, "another form", start=Other(*START))


def test_a_damaged_checkpoint_is_refused_wherever_the_damage_is(written):
    content = written.read_bytes()
    for place in [*range(0, len(content), 37), len(content) - 1]:
        damaged = bytearray(content)
        damaged[place] ^= 4
        written.write_bytes(damaged)
        with pytest.raises(ModelFileError):
            bound(written).resume(START)
    written.write_bytes(content[: len(content) // 2])
    refused(written, "cut short")
    written.write_bytes(b"")
    refused(written, "is empty")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"losses": 3}, "consistent"),
        ({"losses": {"type": "import"}}, "unknown type"),
        ({"losses": ["a"]}, "consistent"),
        ({"params": None}, "another form"),
        ({"params": [[[]]]}, "another form"),
    ],
)
def test_a_forged_checkpoint_is_refused(written, change, match):
    with open_tensors(written, kind="checkpoint") as file:
        document, arrays = file.document, file.read()
    write_tensors(written, {**document, **change}, arrays)
    refused(written, match)


def test_a_model_is_not_a_checkpoint(path):
    write_tensors(path, {"format": 1, "kind": "model"}, {})
    with pytest.raises(ModelFileError, match="is a model, not a checkpoint"):
        bound(path).resume(START)


# --- Wrong use ---


def test_a_loop_that_does_not_say_what_it_fits_is_refused(path):
    with pytest.raises(ValueError, match="has no key"):
        fit(Checkpoint(path))
    with pytest.raises(ValueError, match="cannot be resumed"):
        Checkpoint(path).on_step(Step("Online", 1, 2, [1.0], START))
    with pytest.raises(TypeError, match="needs a string"):
        Checkpoint(path).bind(3)


def test_a_folder_that_is_not_there_is_found_before_the_fit(tmp_path):
    with pytest.raises(FileNotFoundError, match="needs a folder that exists"):
        bound(tmp_path / "none" / "fit.checkpoint")


def test_params_that_no_file_can_hold_are_found_before_the_fit(path):
    with pytest.raises(TypeError, match=r"params\.note is of type"):
        bound(path).resume(START._replace(note=object()))


def test_it_prints_as_it_was_made(path):
    assert repr(Checkpoint("fit.ckpt", every=5.0)) == "Checkpoint('fit.ckpt', every=5.0)"
