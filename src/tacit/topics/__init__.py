"""Topic models: what documents are about, found without labels."""

from tacit.core.lazy import attach

__all__ = [
    "GibbsLDA",
    "LatentDirichletAllocation",
    "TextTopics",
    "align_topics",
    "choose_topics",
    "coherence",
    "diversity",
    "exclusivity",
    "relevance",
    "top_words",
    "topics_by",
]

__getattr__, __dir__ = attach(
    __name__,
    names={
        "GibbsLDA": "tacit.topics.lda_gibbs",
        "LatentDirichletAllocation": "tacit.topics.lda_variational",
        "TextTopics": "tacit.topics.text_topics",
        "align_topics": "tacit.topics.topic_choice",
        "choose_topics": "tacit.topics.topic_choice",
        "coherence": "tacit.topics.topic_quality",
        "diversity": "tacit.topics.topic_quality",
        "exclusivity": "tacit.topics.topic_quality",
        "relevance": "tacit.topics.topic_summary",
        "top_words": "tacit.topics.topic_quality",
        "topics_by": "tacit.topics.topic_summary",
    },
)
