"""What the arrays of each stage hold, and the check of a project that a stranger may have made.

The declarations are those of model files (``core.modelfile``), and so is the check.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tacit.core.errors import DataError
from tacit.core.modelfile import Saved, check_schema
from tacit.core.pack import all_finite

__all__ = ["check_arrays"]

N = "n_documents"


class Counts(Saved):
    _file_schema: ClassVar = {
        "document_counts": ("n_words",), "totals": ("n_words",), "lengths": (N,),
        "counts.data": ("n_counts",), "counts.indices": ("n_counts",),
        "counts.indptr": (f"{N}+1",),
    }  # fmt: skip
    _file_kinds: ClassVar = {**dict.fromkeys(_file_schema, "i"), "counts.data": "iuf"}
    _file_below: ClassVar = {"counts.indices": "n_words"}


class Duplicates(Saved):
    _file_schema: ClassVar = {"jaccard": ("n_pairs",), "labels": (N,), "pairs": ("n_pairs", 2)}
    _file_kinds: ClassVar = {"jaccard": "f", "labels": "i", "pairs": "i"}
    _file_below: ClassVar = {"labels": N, "pairs": N}
    _file_missing: ClassVar = ("labels",)


class Groups(Saved):
    _file_schema: ClassVar = {
        "centers": ("n_groups", None), "jaccard": ("n_groups", None), "confidence": (N,),
        "labels": (N,), "second": (N,), "leaf": (N,),
    }  # fmt: skip
    _file_optional: ClassVar = ("centers", "jaccard", "second", "leaf")  # one group has none
    _file_kinds: ClassVar = {
        "centers": "f", "confidence": "f", "jaccard": "f", "labels": "i", "second": "i",
        "leaf": "i",
    }  # fmt: skip
    _file_below: ClassVar = {"labels": N, "second": N, "leaf": 2**31}
    _file_missing: ClassVar = ("labels", "second", "leaf")
    _file_nonfinite: ClassVar = ("jaccard",)


class Index(Saved):
    _file_schema: ClassVar = {"tokens": (None,), "edges": (f"{N}+1",)}
    _file_kinds: ClassVar = {"tokens": "i", "edges": "i"}
    _file_below: ClassVar = {"tokens": 2**31}
    _file_missing: ClassVar = ("tokens",)


class LanguageGuess(Saved):
    _file_schema: ClassVar = {"language": (N,)}
    _file_kinds: ClassVar = {"language": "u"}


class Map(Saved):
    _file_schema: ClassVar = {
        "neighbors": (N, "n_neighbors"), "squares": (N, "n_neighbors"), "points": (N, 2),
    }  # fmt: skip
    _file_kinds: ClassVar = {"neighbors": "i", "squares": "f", "points": "f"}
    _file_below: ClassVar = {"neighbors": N}
    _file_missing: ClassVar = ("neighbors",)


class Meaning(Saved):
    _file_schema: ClassVar = {
        "rows": (N, "n_directions"), "blank": (N,), "singular_values": ("n_directions",),
        "used": ("n_used",), "word_lengths": ("n_used",), "words": ("n_used", "n_directions"),
        "idf_power": (1,),
    }  # fmt: skip
    _file_optional: ClassVar = ("idf_power",)
    _file_kinds: ClassVar = {
        "rows": "f", "blank": "b", "singular_values": "f", "used": "i", "word_lengths": "f",
        "words": "f", "idf_power": "i",
    }  # fmt: skip
    _file_below: ClassVar = {"used": 2**31, "idf_power": 100}


class Outliers(Saved):
    _file_schema: ClassVar = {"score": (N,), "why": (N,)}
    _file_optional: ClassVar = ("why",)
    _file_kinds: ClassVar = {"score": "f", "why": "u"}
    _file_nonfinite: ClassVar = ("score",)


class WhatIf(Saved):
    _file_schema: ClassVar = {"labels": (None, N)}
    _file_kinds: ClassVar = {"labels": "iu"}
    _file_below: ClassVar = {"labels": N}
    _file_missing: ClassVar = ("labels",)


class Words(Saved):
    _file_schema: ClassVar = {
        "words": ("n_words",), "cosine": ("n_words", "n_near"),
        "neighbors": ("n_words", "n_near"),
    }  # fmt: skip
    _file_kinds: ClassVar = {"words": "i", "cosine": "f", "neighbors": "i"}
    _file_below: ClassVar = {"words": 2**31, "neighbors": 2**31}
    _file_missing: ClassVar = ("neighbors",)


class Reading(Saved):
    _file_schema: ClassVar = dict.fromkeys(
        ("sentences", "words", "sentence_words", "word_letters", "variety", "once", "ease"),
        (N,),
    )
    _file_kinds: ClassVar = {**dict.fromkeys(_file_schema, "f"), "sentences": "i"}
    _file_nonfinite: ClassVar = tuple(_file_schema)  # of documents that are too short


class Themes(Saved):
    _file_schema: ClassVar = {"theta": (N, None)}
    _file_kinds: ClassVar = {"theta": "f"}
    _file_nonfinite: ClassVar = ("theta",)


class Time(Saved):
    _file_schema: ClassVar = {"period": (N,), "day": (N,)}
    _file_kinds: ClassVar = {"period": "i", "day": "i"}
    _file_below: ClassVar = {"period": 2**15}
    _file_missing: ClassVar = ("period",)


STAGES: dict[str, type[Saved]] = {
    "counts": Counts, "duplicates": Duplicates, "groups": Groups, "index": Index,
    "language_guess": LanguageGuess, "map": Map, "meaning": Meaning, "outliers": Outliers,
    "reading": Reading, "themes": Themes, "time": Time, "what_if": WhatIf, "words": Words,
}  # fmt: skip


def check_arrays(
    stage: str, arrays: Mapping[str, np.ndarray], documents: Any, where: Path
) -> None:
    """DataError where the arrays of a stage are not what the stage writes."""
    declared = STAGES.get(stage, Saved)
    try:
        if type(documents) is not int:
            raise TypeError("the number of documents is not a whole number.")
        check_schema(declared, {N: documents}, arrays)
        for name, array in arrays.items():
            several = name.startswith("members")  # of a matrix, which is checked when opened
            if stage == "fields" and not several and array.shape != (documents,):
                raise ValueError(f"{name} does not have one value for every document.")
            loose = declared is Saved or name in declared._file_nonfinite
            if not loose and not all_finite(array):
                raise ValueError(f"{name} holds nan or inf.")
    except (TypeError, ValueError) as error:
        what = str(error).partition(". ")[0].rstrip(".")
        raise DataError(f"is damaged: {what}. Run tacit explore again.", file=where) from None
