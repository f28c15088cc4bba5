"""Questions to a project: each a function that takes ``Live`` and gives JSON values."""

from tacit.core.lazy import attach

__all__ = [
    "EXPORTS",
    "Live",
    "NotReady",
    "compare",
    "concordance",
    "document",
    "export",
    "generate",
    "neighbors",
    "next_words",
    "search",
    "similar",
    "spread",
    "surprise",
]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "EXPORTS": "tacit.explore.ask.exporting",
        "Live": "tacit.explore.ask.live",
        "NotReady": "tacit.explore.ask.live",
        "compare": "tacit.explore.ask.comparing",
        "concordance": "tacit.explore.ask.contexts",
        "document": "tacit.explore.ask.showing",
        "export": "tacit.explore.ask.exporting",
        "generate": "tacit.explore.ask.continuing",
        "neighbors": "tacit.explore.ask.word_neighbors",
        "next_words": "tacit.explore.ask.continuing",
        "search": "tacit.explore.ask.searching",
        "similar": "tacit.explore.ask.resembling",
        "spread": "tacit.explore.ask.spreading",
        "surprise": "tacit.explore.ask.continuing",
    },
)
