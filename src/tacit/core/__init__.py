"""What every model stands on: engines, checkpoints, drivers, errors, model files."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "Dask", "Serial", "Threads", "get_engine",
    "Checkpoint", "Stats", "describe", "iterate", "iterate_online", "tree_sum",
    "DataError", "Locked", "ModelFileError", "PartialInput", "TacitError",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.core.checkpoint import Checkpoint
    from tacit.core.engines import Dask, Serial, Threads, get_engine
    from tacit.core.errors import (
        DataError,
        Locked,
        ModelFileError,
        PartialInput,
        TacitError,
    )
    from tacit.core.loop import iterate, iterate_online
    from tacit.core.modelfile import describe
    from tacit.core.stats import Stats, tree_sum
else:
    __getattr__, __dir__ = attach(__name__)
