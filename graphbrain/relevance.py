"""The relevance of a text to a topic, by the short name that users import. `graphbrain.content.relevance` has the
code."""

from graphbrain.content.relevance import TopicRelevance, guess

__all__ = ["TopicRelevance", "guess"]
