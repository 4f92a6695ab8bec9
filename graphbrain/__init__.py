"""The brain of a web crawler, kept in a Neo4j graph."""

from graphbrain.brain import Brain
from graphbrain.errors import GraphbrainError
from graphbrain.model import Answer, Claim, Claims, Failed, Fetched, Link, Page

__version__ = "0.1.0"
__all__ = ["Answer", "Brain", "Claim", "Claims", "Failed", "Fetched", "GraphbrainError", "Link", "Page"]
