"""Topic models: what documents are about, found without labels."""

from typing import TYPE_CHECKING

from tacit.core.lazy import attach

__all__ = [
    "GibbsLDA", "LatentDirichletAllocation", "TextTopics", "align_topics", "choose_topics",
    "coherence", "diversity", "exclusivity", "relevance", "top_words", "topics_by",
]  # fmt: skip

if TYPE_CHECKING:
    from tacit.topics.lda_gibbs import GibbsLDA
    from tacit.topics.lda_variational import LatentDirichletAllocation
    from tacit.topics.text_topics import TextTopics
    from tacit.topics.topic_choice import align_topics, choose_topics
    from tacit.topics.topic_quality import coherence, diversity, exclusivity, top_words
    from tacit.topics.topic_summary import relevance, topics_by
else:
    __getattr__, __dir__ = attach(__name__)
