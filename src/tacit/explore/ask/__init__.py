"""Questions to a project: functions of a ``ProjectReader`` that return JSON values."""

from tacit.core.lazy import attach

__all__ = [
    "EXPORTS", "Live", "NotReady", "ProjectReader", "compare", "concordance", "document",
    "export", "generate", "neighbors", "next_words", "prepare_live", "search", "similar",
    "spread", "surprise",
]  # fmt: skip

HOME = "tacit.explore.questions"
__getattr__, __dir__ = attach(
    __name__,
    names={
        "EXPORTS": f"{HOME}.exports",
        "Live": f"{HOME}.reader",
        "NotReady": f"{HOME}.reader",
        "ProjectReader": f"{HOME}.reader",
        "compare": f"{HOME}.comparison",
        "concordance": f"{HOME}.contexts",
        "document": f"{HOME}.documents",
        "export": f"{HOME}.exports",
        "generate": f"{HOME}.language_model",
        "neighbors": f"{HOME}.meaning_space",
        "next_words": f"{HOME}.language_model",
        "prepare_live": "tacit.explore.project.pipeline",
        "search": f"{HOME}.text_search",
        "similar": f"{HOME}.text_search",
        "spread": f"{HOME}.label_spreading",
        "surprise": f"{HOME}.language_model",
    },
)
