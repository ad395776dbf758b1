"""Scenario files from dictionaries."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from recoup._errors import UsageError
from recoup._plain import plain
from recoup._spec import Spec


def document(tables: Mapping[str, Any]) -> str:
    """Return a TOML document: values first, then a table for each dictionary."""
    lines = []
    sections = []
    for key, value in tables.items():
        if isinstance(value, Mapping):
            sections.append((key, value))
        else:
            lines.append(f"{_quoted(key)} = {_value(value)}")
    for key, table in sections:
        lines.append(f"\n[{_quoted(key)}]")
        lines.extend(f"{_quoted(_own(key, k))} = {_value(v)}" for k, v in table.items())
    return "\n".join(lines) + "\n"


#: Tables whose keys are names of the user.
_NAMED = frozenset({"applications", "links", "nodes", "sweep"})


def _own(table: str, key: str) -> str:
    return key if table in _NAMED else key_of(key)


def key_of(key: str) -> str:
    """Return a keyword of Python as a key of a file."""
    return key.rstrip("_").replace("_", "-")


def _quoted(key: str) -> str:
    plain = key.replace("-", "").replace("_", "")
    return key if plain.isascii() and plain.isalnum() else json.dumps(key)


def _value(value: Any) -> str:
    value = plain(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            message = f"{value} is no number of a scenario"
            raise UsageError(message, "give a finite number", 2)
        return repr(value)
    if isinstance(value, str | Spec):
        return json.dumps(str(value), ensure_ascii=False)
    if isinstance(value, timedelta):
        return f'"{value // timedelta(microseconds=1)} us"'
    if isinstance(value, Mapping):
        pairs = (f"{_quoted(str(key))} = {_value(own)}" for key, own in value.items())
        return "{ " + ", ".join(pairs) + " }"
    if isinstance(value, list | tuple | range):
        return "[" + ", ".join(_value(one) for one in value) + "]"
    message = f"{value!r} is no value of a scenario"
    raise UsageError(message, "give a number, a text, an algorithm, a list or a dictionary", 2)
