"""Who wrote this: authors told apart by the frequencies of their function words."""

from tacit.core.lazy import attach

__all__ = ["Authorship", "FunctionWords", "consensus_tree", "delta", "impostors", "rolling"]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "Authorship": "tacit.style.authorship",
        "FunctionWords": "tacit.style.function_words",
        "consensus_tree": "tacit.style.consensus",
        "delta": "tacit.style.deltas",
        "impostors": "tacit.style.verification",
        "rolling": "tacit.style.rolling_attribution",
    },
)
