"""Save the state of a long fit, and resume from it.

A checkpoint is a callback of the drivers ``iterate`` and ``sweep``. It writes the params and
the losses so far. ``iterate`` measures the loss of the params again when it resumes, so its
last loss is left out; ``sweep`` measures during a pass and keeps it. The remaining steps and
the result have the same bits as those of a fit that was never interrupted.

An estimator gives its fit a key, so that no fit resumes from the state of another:

    begin(callbacks, key)       before the loop; key is a fingerprint of data and settings
    iterate(..., callbacks=callbacks)
    finish(callbacks)           last thing in fit; the files of a finished fit go

A fit of several runs (n_init) calls ``begin(callbacks, key, part=i)`` before each: every run
has its file, so the finished ones cost two passes when the fit is resumed.
"""

import os
import time
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.errors import ModelFileError
from tacit.core.pack import Packer, Unpacker
from tacit.core.progress import Step
from tacit.core.tensorfile import SAVE_AGAIN, bad, open_tensors, write_tensors

__all__ = ["Checkpoint", "begin", "finish"]

START_AFRESH = "Delete it to start afresh, or choose another path."


class Checkpoint:
    """Save a fit's state as it runs, so that the same fit resumes where it was cut off.

    Give it to an estimator among its ``callbacks``. Run the same program again after a crash,
    kill or power cut: the fit goes on from the last checkpoint and ends with the same bits.
    The file disappears when the fit has finished; a fit that another callback stopped
    keeps it. A write that fails (disk full) is a warning, and the fit goes on.

    Parameters
    ----------
    path : str or path
        The file to write, in a folder that exists. Replaced as a whole, never half-written.
    every : float
        Seconds between two writes, at least. The last step is written too.

    Examples
    --------
    >>> import tempfile
    >>> from typing import NamedTuple
    >>> class Mean(NamedTuple):
    ...     center: float
    >>> path = Path(tempfile.mkdtemp()) / "fit.checkpoint"
    >>> checkpoint = Checkpoint(path, every=0)
    >>> checkpoint.bind("mean of x")
    >>> checkpoint.on_step(Step("Mean", 2, 10, [9.0, 5.0, 4.0], Mean(1.5)))
    >>> again = Checkpoint(path)
    >>> again.bind("mean of x")
    >>> again.resume(Mean(0.0))
    (Mean(center=1.5), [9.0, 5.0])
    """

    def __init__(self, path: str | os.PathLike, every: float = 30.0) -> None:
        self.path, self.every = path, every
        self._key: str | None = None
        self._file = Path(path)
        self._ended: dict[Path, bool] = {}  # by the file of each part
        self._waiting: tuple[Any, list] | None = None  # received, but not yet written
        self._wrote = time.monotonic()

    def __repr__(self) -> str:
        return f"Checkpoint({os.fspath(self.path)!r}, every={self.every!r})"

    def bind(self, key: str, part: int = 0) -> None:
        """Set the key of the fit that is about to start; called by the estimator."""
        if not isinstance(key, str):
            raise TypeError(f"Checkpoint.bind(key={key!r}) needs a string.")
        path = Path(self.path)
        folder = path.parent
        if not folder.is_dir() or not os.access(folder, os.W_OK):  # now, not in an hour
            kind = PermissionError if folder.is_dir() else FileNotFoundError
            raise kind(
                f"Checkpoint({os.fspath(path)!r}) needs a folder that exists and can be "
                f"written to; {os.fspath(folder)!r} is not one. Create it, or choose another."
            )
        if part == 0:
            self._ended = {}
        self._file = path if part == 0 else path.with_name(f"{path.name}.{part}")
        self._ended[self._file] = False
        self._key, self._waiting, self._wrote = key, None, time.monotonic()

    def resume(self, params: Any) -> tuple[Any, list] | None:
        """The state that an earlier run of the same fit reached, or None without a file.

        ``params`` are the ones the fit would start from; what is resumed has their form.
        """
        key = self._bound()
        pack_params(Packer(), "params", params)  # a TypeError is better now than in an hour
        try:
            with open_tensors(self._file, kind="checkpoint") as file:
                if file.document.get("key") != key:
                    raise bad(file.path, "belongs to another fit: other data or settings")
                unpacker = Unpacker(file.path, file.read())
                resumed = unpack_params(unpacker, "params", file.document.get("params"), params)
                losses = unpacker.unpack("losses", file.document.get("losses"))
                floats = isinstance(losses, list) and all(type(x) is float for x in losses)
                if unpacker.unused or not floats:
                    raise bad(file.path, "is inconsistent")
        except FileNotFoundError:
            return None
        except RecursionError:
            raise bad(self._file, "is nested too deeply", START_AFRESH) from None
        except ModelFileError as error:
            raise ModelFileError(str(error).replace(SAVE_AGAIN, START_AFRESH)) from None
        return resumed, losses

    def on_step(self, step: Step) -> None:
        """Write the step if the last write was long enough ago."""
        self._bound()
        if step.done:
            # The loop would not stop here a second time, but it will one update earlier.
            self.close()
            self._ended[self._file] = True
            return
        measured = step.losses if step.resumes_after else step.losses[:-1]
        self._waiting = step.params, list(measured)
        if time.monotonic() - self._wrote >= self.every:
            self.close()

    def close(self) -> None:
        """Write the latest step, unless it is written already."""
        if self._waiting is None:
            return
        (params, losses), self._waiting = self._waiting, None
        packer = Packer()
        document = {
            "format": 1,
            "kind": "checkpoint",
            "key": self._bound(),
            "params": pack_params(packer, "params", params),
            "losses": packer.pack("losses", [float(loss) for loss in losses]),
        }
        try:
            write_tensors(self._file, document, packer.tensors)
        except OSError as error:
            warnings.warn(
                f"The checkpoint {os.fspath(self._file)} could not be written ({error}). The "
                "fit goes on; the last checkpoint that was written is still there.",
                RuntimeWarning,
                stacklevel=2,
            )
        self._wrote = time.monotonic()

    def done(self) -> None:
        """Remove the files of a fit that has come to its end; called by the estimator.

        Keeps them if another callback stopped the fit: it can be resumed.
        """
        self.close()
        if all(self._ended.values()):
            for file in self._ended:
                file.unlink(missing_ok=True)
        self._key, self._ended = None, {}

    def _bound(self) -> str:
        if self._key is None:
            raise ValueError(
                f"{self!r} has no key, so it cannot distinguish this fit "
                "from another. This estimator cannot be resumed; leave the checkpoint out. "
                "(In a loop of your own, call bind(key) first.)"
            )
        return self._key


def begin(callbacks: Iterable | None, key: str, part: int = 0) -> None:
    """Bind the checkpoints among the callbacks to the fit that is about to start."""
    for callback in callbacks or ():
        if isinstance(callback, Checkpoint):
            callback.bind(key, part)


def finish(callbacks: Iterable | None) -> None:
    """Remove the files of the checkpoints among the callbacks: the fit has its result."""
    for callback in callbacks or ():
        if isinstance(callback, Checkpoint):
            callback.done()


# --- Params: NamedTuples of arrays and numbers, nested ---


def pack_params(packer: Packer, name: str, value: Any) -> Any:
    if not is_record(value):
        return packer.pack(name, value)
    fields = {
        field: pack_params(packer, f"{name}.{field}", part)
        for field, part in value._asdict().items()
    }
    return {"type": "record", "name": type(value).__name__, "fields": fields}


def unpack_params(unpacker: Unpacker, name: str, node: Any, like: Any) -> Any:
    """The params in ``node``, if they have the form of ``like``: a file names no classes."""
    other = bad(unpacker.path, f"holds params of another form, see {name}")
    if not is_record(like):
        if isinstance(node, dict) and node.get("type") == "record":
            raise other
        value = unpacker.unpack(name, node)
        if not same_form(value, like):
            raise other
        return value
    fields = node.get("fields") if isinstance(node, dict) else None
    if (
        not isinstance(fields, dict)
        or node.get("name") != type(like).__name__
        or tuple(fields) != like._fields
    ):
        raise other
    values = (
        unpack_params(unpacker, f"{name}.{field}", fields[field], getattr(like, field))
        for field in like._fields
    )
    return type(like)(*values)


def is_record(value: Any) -> bool:
    return isinstance(value, tuple) and hasattr(value, "_fields")


def same_form(value: Any, like: Any) -> bool:
    if value is None or like is None:  # a part that comes or goes during the fit
        return True
    if isinstance(like, np.ndarray):
        return (
            isinstance(value, np.ndarray)
            and value.dtype == like.dtype
            and value.shape == like.shape
        )
    number = (bool, int, float, np.generic)
    if isinstance(like, number):
        return isinstance(value, number)
    return type(value) is type(like) and (
        getattr(value, "shape", None) == getattr(like, "shape", None)
    )
