r"""ARPA files: the text format that language models are exchanged in.

    \data\
    ngram 1=4
    ngram 2=3

    \1-grams:
    -0.301  </s>
    -99     <s>     -0.176
    ...
    \end\

A line holds log10 of the probability, the words, and log10 of the back-off weight if there
is one. The logarithm of zero is written -99. Numbers are written with as many digits as make
the float32 come back exactly, so that a model read from its own file is the same model.
"""

import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import numpy as np

from tacit.core.atomic import atomic_write
from tacit.core.engines import check_stop
from tacit.language.arpa_parse import read_tables
from tacit.language.backoff_tables import Tables
from tacit.language.ngram_model import NGramModel

__all__ = ["read_arpa", "write_arpa"]

LINES = 1 << 19  # written at a time
ZERO = -99.0


def write_arpa(model: NGramModel, path: str | os.PathLike | IO[bytes]) -> None:
    """Write a model as an ARPA file, packed if the name ends with .gz; or to an open file.

    Models with add-k smoothing have no such form (their lower orders are no part of the
    higher), and models of characters hold words that are white space: save those instead.

    Examples
    --------
    >>> import tempfile; from pathlib import Path
    >>> model = NGramModel(order=2).fit(["Yee Haw", "Haw Yee Yee", "Yee Haw Yee"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "cowperson.arpa")
    ...     write_arpa(model, path)
    ...     read_arpa(path).score("Yee Haw") == model.score("Yee Haw")
    True
    """
    tables, words = model._tables, model.words_
    if tables.absolute:
        raise ValueError(
            "A model with add-k smoothing cannot be written as an ARPA file, which holds "
            "back-off weights. Use model.save, or another smoothing."
        )
    blank = next((word for word in words if not word or len(word.split()) != 1), None)
    if blank is not None or any(" " in word for word in words):
        raise ValueError(
            f"An ARPA file cannot hold {blank!r} as a word: it separates words by white "
            "space. Use model.save."
        )
    shown = range(len(words)) if model.open_vocabulary else range(1, len(words))
    with open_packed(path) as file:
        sizes = tables.sizes.copy()
        sizes[0] = len(shown) - (0 if model.markers else 2)
        head = "".join(f"ngram {k}={n}\n" for k, n in enumerate(sizes, 1))
        file.write(f"\\data\\\n{head}".encode())
        for k in range(1, tables.order + 1):
            file.write(f"\n\\{k}-grams:\n".encode())
            for part in sections(tables, words, k, model.open_vocabulary, model.markers):
                file.write(part)
        file.write(b"\n\\end\\\n")


def read_arpa(path: str | os.PathLike) -> NGramModel:
    """Read a language model from an ARPA file, plain or packed with gzip or zstd.

    Without <unk> in the file the vocabulary is closed: other words have probability zero.
    """
    found = read_tables(os.fspath(path))
    model = NGramModel(
        found.tables.order, open_vocabulary=found.open_vocabulary, markers=found.markers
    )
    model._keep(found.tables, found.vocabulary)
    model.discounts_, model.discount_fallbacks_, model.mixing_ = [], [], []
    model.input_report_ = {"lines": found.lines}
    return model


@contextmanager
def open_packed(path: str | os.PathLike | IO[bytes]) -> Iterator[IO[bytes]]:
    if not isinstance(path, str | os.PathLike):
        yield path
        return
    with atomic_write(path) as file:
        if os.fspath(path).endswith(".gz"):
            with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
                yield packed  # type: ignore[misc]
        else:
            yield file


def sections(
    tables: Tables, words: list[str], k: int, open_vocabulary: bool, markers: bool
) -> Iterator[Any]:
    """The lines of the n-grams of k words, as buffers of bytes."""
    import pyarrow as pa
    import pyarrow.compute as pc

    spelling = pa.array(words, pa.large_string())
    first, last = tables.first(k), tables.first(k + 1)
    probs = tables.log10_probs(k)
    backoffs = tables.log10_backoffs(k) if k < tables.order else None
    left_out = {0: not open_vocabulary, 1: not markers, 2: not markers} if k == 1 else {}
    left_out = {word for word, out in left_out.items() if out}  # type: ignore[assignment]
    for start in range(first, last, LINES):
        check_stop()
        numbers = np.arange(start, min(last, start + LINES))
        if left_out and start == first:
            numbers = numbers[~np.isin(numbers, list(left_out))]
        columns, at, level = [], numbers, k
        while True:
            columns.append(spelling.take(pa.array(tables.words[at])))
            if level == 1:
                break
            level -= 1
            low, high = tables.first(level), tables.first(level + 1)
            at = low - 1 + np.searchsorted(tables.children[low : high + 1], at, side="right")
        text = columns[-1]
        for column in columns[-2::-1]:
            text = pc.binary_join_element_wise(text, column, pa.scalar(" ", pa.large_string()))
        fields = [as_text(probs[numbers - first]), text]
        if backoffs is not None:
            fields.append(as_text(backoffs[numbers - first]))
        tab = pa.scalar("\t", pa.large_string())
        line = pc.binary_join_element_wise(*fields, tab)
        end = pa.scalar("\n", pa.large_string())
        line = pc.binary_join_element_wise(line, pa.scalar("", pa.large_string()), end)
        yield line.buffers()[2]


def as_text(numbers: np.ndarray) -> Any:
    """The shortest text from which each float32 comes back."""
    import pyarrow as pa

    shown = np.where(np.isneginf(numbers), np.float32(ZERO), numbers)
    return pa.array(shown, pa.float32()).cast(pa.large_string())
