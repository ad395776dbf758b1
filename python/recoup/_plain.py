"""Objects of other packages as values of Python."""

from __future__ import annotations

import operator
import os
from typing import Any


def plain(value: Any) -> Any:
    """Return NumPy's scalars and arrays, columns of data frames and paths as numbers, lists and texts.

    Any other value is returned as it is.
    """
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    convert = getattr(value, "tolist", None)
    if callable(convert):
        return convert()
    # A column of polars or Arrow.
    for name in ("to_list", "to_pylist"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    return value


def whole(value: Any) -> int:
    """Return a whole number of Python or NumPy.

    Raises
    ------
    TypeError
        If it is none, such as 1.5.
    """
    return operator.index(plain(value))
