"""A back-off model of n-grams: its settings, its tables, its file, and how it is trained.

Nothing here imports scikit-learn, whose import takes most of a second and 130 MB: ``tacit lm
train`` needs no more than this file. ``NGramModel`` adds scikit-learn's conventions, and what
one asks a model.
"""

import inspect
from collections.abc import Callable, Iterable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, ClassVar, Self, TypeVar

from tacit.core.engines import Engine
from tacit.core.modelfile import Saved
from tacit.language.backoff_tables import Tables, quantize, with_exact_unigrams
from tacit.language.count_text import count_text
from tacit.language.sentences import Reader, check_tokenizer
from tacit.language.smoothing import check_prune, smooth
from tacit.text.vocabulary import Vocabulary

__all__ = ["BackoffModel", "check_trained", "train"]

FIELDS = tuple(name for name in Tables._fields if name != "absolute")  # as in a file
Model = TypeVar("Model", bound="BackoffModel")


class BackoffModel(Saved):
    """The settings and the tables of an ``NGramModel``, which documents both."""

    _saved_as: ClassVar[str] = "NGramModel"
    _saved_private = (*(f"_{name}" for name in FIELDS), "_word_bytes", "_word_offsets")
    _file_schema: ClassVar[dict] = {
        "_sizes": ("n_orders",),
        "_words": ("n_ngrams",),
        "_probs": ("n_ngrams",),
        "_backoffs": ("n_inner",),
        "_children": ("n_inner+1",),
        "_word_bytes": (None,),
        "_word_offsets": (None,),
        "_prob_values": ("n_orders", 256),
        "_backoff_values": ("n_orders-1", 256),
        "_unigram_probs": (None,),
        "_unigram_backoffs": (None,),
    }
    _file_optional = ("_prob_values", "_backoff_values", "_unigram_probs", "_unigram_backoffs")
    _file_kinds: ClassVar[dict] = {
        "_sizes": "i", "_words": "i", "_children": "i", "_probs": "fu", "_backoffs": "fu",
        "_word_bytes": "u", "_word_offsets": "i", "_prob_values": "f", "_backoff_values": "f",
        "_unigram_probs": "f", "_unigram_backoffs": "f",
    }  # fmt: skip
    _file_types: ClassVar[dict] = {"_uniform": float}
    _file_nonfinite = (
        "_probs", "_backoffs", "_prob_values", "_backoff_values", "_unigram_probs",
        "_unigram_backoffs",
    )  # fmt: skip

    discounts_: list[list[float]]
    discount_fallbacks_: list[int]
    mixing_: list[list[float]]
    input_report_: dict[str, int]

    def __init__(
        self,
        order: int = 3,
        *,
        smoothing: str = "modified-kneser-ney",
        vocabulary: Iterable[str] | None = None,
        unk_cutoff: int = 0,
        k: float = 1.0,
        backoff_weight: float = 0.4,
        prune: Sequence[int] = (),
        open_vocabulary: bool = True,
        markers: bool = True,
        tokenizer: str | Callable[[str], list[str]] = "whitespace",
        lowercase: bool = False,
        memory: int | float | str | None = None,
        engine: str | Engine = "threads",
    ) -> None:
        self.order, self.smoothing, self.vocabulary = order, smoothing, vocabulary
        self.unk_cutoff, self.k, self.backoff_weight = unk_cutoff, k, backoff_weight
        self.prune, self.open_vocabulary, self.markers = prune, open_vocabulary, markers
        self.tokenizer, self.lowercase, self.memory = tokenizer, lowercase, memory
        self.engine = engine

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The settings, as scikit-learn gives them."""
        names = sorted(inspect.signature(BackoffModel).parameters)
        return {name: getattr(self, name) for name in names}

    @property
    def ngram_counts_(self) -> list[int]:
        return [int(n) for n in self._tables.sizes]

    def quantized(self) -> Self:
        """A copy with one byte for each probability and back-off weight of two words or more.

        Perplexity rises by well under a percent. Single words stay exact.
        """
        out = copy(self)
        out._set_tables(quantize(self._tables), self._vocabulary)
        return out

    def _set_tables(self, tables: Tables, vocabulary: Vocabulary) -> None:
        for name in ("_tables", "_vocabulary", "_index", "_lookup"):
            self.__dict__.pop(name, None)
        for name in FIELDS:
            setattr(self, f"_{name}", getattr(tables, name))
        self._word_bytes, self._word_offsets = vocabulary.data, vocabulary.offsets

    @cached_property
    def _tables(self) -> Tables:
        check_trained(self)
        arrays = {name: getattr(self, f"_{name}", None) for name in FIELDS}
        absolute = self.smoothing == "add-k"
        return with_exact_unigrams(Tables(absolute=absolute, **arrays))  # type: ignore

    @cached_property
    def _vocabulary(self) -> Vocabulary:
        check_trained(self)
        return Vocabulary.of_bytes(self._word_bytes, self._word_offsets)

    def _reader(self, lines: bool = True) -> Reader:
        return Reader(self.tokenizer, self.lowercase, lines)


def train(model: Model, X: Any, held_out: Any = None, baseline: int | None = None) -> Model:
    """Fill in the tables of a model from sentences, as ``NGramModel.fit`` describes.

    The limit on memory comes on top of ``baseline`` bytes, by default what the process takes
    now; with 0 it is for the process.
    """
    check_tokenizer(model.tokenizer)
    check_prune(model.prune, model.smoothing)
    counts, vocabulary, report, mixing = count_text(model, X, held_out, baseline)
    tables, discounts = smooth(counts, model, mixing)
    model._set_tables(tables, vocabulary)
    model.discounts_ = [rule.values.tolist() for rule in discounts]
    model.discount_fallbacks_ = [
        order for order, rule in enumerate(discounts, 1) if not rule.estimated
    ]
    model.mixing_ = [weights.tolist() for weights in mixing or ()]
    model.input_report_ = report
    return model


def check_trained(model: BackoffModel) -> None:
    """scikit-learn's NotFittedError unless the model has tables."""
    if not hasattr(model, "_sizes"):
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(model, "_sizes")
