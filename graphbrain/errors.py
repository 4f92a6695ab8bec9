"""Every error that graphbrain raises on purpose, by the short name that users import. `graphbrain.base.errors` has the
code."""

from graphbrain.base.errors import (
    BadInput,
    BeingConverted,
    Cancelled,
    GraphbrainError,
    GraphRefused,
    GraphTooSmall,
    GraphUnavailable,
    NoScore,
    SchemaMismatch,
    ServerFailed,
    ServiceRefused,
    ServiceUnavailable,
    SettingsError,
    UnknownHost,
    UnknownPage,
    UnknownQuestion,
)

__all__ = [
    "BadInput",
    "BeingConverted",
    "Cancelled",
    "GraphRefused",
    "GraphTooSmall",
    "GraphUnavailable",
    "GraphbrainError",
    "NoScore",
    "SchemaMismatch",
    "ServerFailed",
    "ServiceRefused",
    "ServiceUnavailable",
    "SettingsError",
    "UnknownHost",
    "UnknownPage",
    "UnknownQuestion",
]
