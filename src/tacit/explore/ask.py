"""Questions to a project: functions of a ``ProjectReader`` that return JSON values."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "EXPORTS", "Live", "NotReady", "ProjectReader", "compare", "concordance", "document",
    "export", "generate", "neighbors", "next_words", "place_texts", "prepare_live", "search",
    "similar", "spread", "surprise",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.explore.project.pipeline import prepare_live
    from tacit.explore.questions.comparison import compare
    from tacit.explore.questions.contexts import concordance
    from tacit.explore.questions.exports import EXPORTS, export
    from tacit.explore.questions.label_spreading import spread
    from tacit.explore.questions.language_model import generate, next_words, surprise
    from tacit.explore.questions.meaning_space import neighbors
    from tacit.explore.questions.placing import place_texts
    from tacit.explore.questions.reader import Live, NotReady, ProjectReader, document
    from tacit.explore.questions.text_search import search, similar
else:
    __getattr__, __dir__ = attach(__name__)
