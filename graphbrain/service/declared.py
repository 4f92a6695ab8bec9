"""Requests of the service, made from the classes in which the options of verbs are declared
(`graphbrain.base.options`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from math import inf
from operator import or_
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, create_model
from pydantic.config import JsonDict

from graphbrain.base.numeric.bounds import Bounds
from graphbrain.base.options.declare import Option, options_of

__all__ = ["ends", "request"]

M = TypeVar("M", bound=BaseModel)


def request(kind: type, base: type[M], *, shapes: Mapping[str, JsonDict] | None = None, **most: float) -> type[M]:
    """Return a base of the model of a request, with the fields of a class that declares options.

    A value that the room checks is not checked here: the document describes it, and the error message is the room's.

    Args:
        kind: The class that declares the options.
        base: The model of a body or of a query.
        shapes: What the document has beside the declaration, by name of the option.
        most: A lower bound of the service than that of the declaration, by name of the option. Such an option has no
            null, which would be no bound.
    """
    bounded = [replace(each, optional=each.optional and each.name not in most) for each in options_of(kind).values()]
    fields: dict[str, Any] = {
        each.name: (_type(each), _field(each, (shapes or {}).get(each.name, {}), most.get(each.name)))
        for each in bounded
    }
    return create_model(kind.__name__, __base__=base, __module__=__name__, **fields)


def _type(option: Option) -> Any:
    kind: Any = Literal[option.words] if option.words and not option.by_room else option.kind
    kind = list[kind] if option.many else kind
    return reduce(or_, (kind, None)) if option.optional else kind


def _field(option: Option, shape: JsonDict, most: float | None) -> Any:
    bounds, document = option.bounds, dict(shape)
    if bounds is not None and most is not None:
        bounds = replace(bounds, most=most)
    checks: dict[str, Any] = {}
    if bounds is not None and option.by_room:
        document |= ends(bounds)
    elif bounds is not None:
        checks = {"gt" if bounds.above else "ge": bounds.least}
        checks |= {} if bounds.most == inf else {"lt" if bounds.below else "le": bounds.most}
    if option.words and option.by_room:
        document["enum"] = list(option.words)
    if option.many:
        document.setdefault("minItems", 1)
    required = option.default == "" and option.words
    return Field(
        ... if required else None if option.default is ... else option.default,
        description=option.help,
        examples=None if option.example is ... else [option.example],
        json_schema_extra=document or None,
        **checks,
    )


def ends(bounds: Bounds) -> JsonDict:
    """Return the keywords of a JSON schema for the bounds of a number."""
    document: JsonDict = {"exclusiveMinimum" if bounds.above else "minimum": bounds.least}
    if bounds.most != inf:
        document["exclusiveMaximum" if bounds.below else "maximum"] = bounds.most
    return document
