"""A reader of `crawl.toml`, which has options of `graphbrain crawl` by their names, and `urls`."""

from __future__ import annotations

import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import Any

from graphbrain.base.errors import SettingsError
from graphbrain.base.settings import unknown

__all__ = ["options_in"]


def options_in(file: Path, names: Collection[str]) -> dict[str, Any]:
    """Return the options in a file, by the names of parameters: `max-pages` and `max_pages` are the same option.

    Args:
        file: A file in TOML.
        names: The names of all options.

    Raises:
        SettingsError: The file cannot be read, or a name is no option.
    """
    # Read the file.
    try:
        with file.open("rb") as stream:
            entries = tomllib.load(stream)
    except OSError as error:
        raise SettingsError(f"{file} cannot be read ({error.strerror or error}).") from None
    except (tomllib.TOMLDecodeError, UnicodeError) as error:
        raise SettingsError(f"{file} is no TOML ({error}).") from None
    # Check the names.
    options = {}
    for name, value in entries.items():
        key = name.replace("-", "_")
        if key not in names:
            raise SettingsError(f"{file}: {unknown(key, names).replace('a setting', 'an option')}")
        if isinstance(value, dict):
            raise SettingsError(f"{file}: {name} is a table; write options at the top level, as in 'max-pages = 100'.")
        options[key] = value
    return options
