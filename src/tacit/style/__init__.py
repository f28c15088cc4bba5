"""Who wrote this: authors told apart by the frequencies of their function words."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = ["Authorship", "FunctionWords", "consensus_tree", "delta", "impostors", "rolling"]

if TYPE_CHECKING:
    from tacit.style.authorship import Authorship, rolling
    from tacit.style.consensus import consensus_tree
    from tacit.style.deltas import delta
    from tacit.style.function_words import FunctionWords
    from tacit.style.verification import impostors
else:
    __getattr__, __dir__ = attach(__name__)
