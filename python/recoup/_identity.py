"""What a class computes with, as a digest: its code, and all that this code reaches.

A class reaches its bases and attributes, the functions and values that these name in their modules, closures and
defaults, and what those reach. Code is compared by its instructions, so that comments and lines do not matter. The
standard library and installed packages are known by their names alone. What a class reads while it runs (files, the
environment) is no part of the digest, nor are values that cannot be compared or reach too much: a sweep makes one kept
run of each point again for that.
"""

from __future__ import annotations

import builtins
import copyreg
import dis
import functools
import hashlib
import inspect
import site
import sys
import sysconfig
from abc import ABC
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FrameType,
    FunctionType,
    GetSetDescriptorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    TracebackType,
)
from typing import Any, NamedTuple

#: Attributes of every class and function, which say nothing about what it computes.
_OF_ALL = frozenset(
    [
        *("__annotate__", "__annotations__", "__abstractmethods__", "__dict__", "__doc__", "__firstlineno__"),
        *("__module__", "__qualname__", "__slotnames__", "__static_attributes__", "__weakref__", "_abc_impl"),
    ]
)
_PLAIN = (type(None), type(Ellipsis), type(NotImplemented), bool, int, float, complex, str, bytes, bytearray)
_NAMED = (BuiltinFunctionType, GetSetDescriptorType, MemberDescriptorType, type(str.join), type(object.__init__))
_OF_RUNS = (FrameType, TracebackType)
#: What is read however much there is: its amount is that of the code.
_CODE = (ModuleType, type, FunctionType, CodeType, *_NAMED)
_LOADS = frozenset({"LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"})


#: How much is read, in plain values: 1 to 4 s. An object counts as several, a long text as one for each KiB.
_MOST = 1 << 20
_OBJECT = 8
_TEXT = 1 << 10
#: A plain value with less text is its own digest.
_SHORT = 64
#: The digest of what has no value that could be compared, or reaches more than is read.
_OPAQUE = "opaque"

#: Digests of what functions, classes and modules hold, by holder and name. A kept holder keeps its number.
Held = dict[tuple[int, str], tuple[Any, str]]


def digest_of(algorithm: type, roots: Iterable[type], known: Held | None = None) -> tuple[str, Held]:
    """Return the digest of a class, and those of the values that it reaches.

    What the class inherits of ``roots`` is left out. Values in ``known`` count with the digest that they have there.
    """
    reader = _Reader(algorithm, roots, known or {})
    return reader.digest(algorithm), reader.held


class _Part(NamedTuple):
    """A value whose digest is a word of another one."""

    value: Any
    #: Names that count, if the value is a module.
    names: frozenset[str] = frozenset()
    #: Holder and name of a value that may change while its holder stays.
    held: tuple[Any, str] | None = None


class _Frame:
    """A value that is being read: words of its digest, and parts that follow."""

    __slots__ = ("is_object", "part", "parts", "words")

    def __init__(self, part: _Part, parts: list[str | _Part], *, is_object: bool) -> None:
        self.part = part
        self.parts = iter(parts)
        self.words: list[str] = []
        #: Whether it is an object: neither code nor what holds code.
        self.is_object = is_object

    def digest(self) -> str:
        if issubclass(type(self.part.value), set | frozenset):
            self.words.sort()
        return _digest(self.words)


class _Reader:
    """Makes digests of objects from those of their parts.

    Values that are being read are on a stack of this class, so that the interpreter limits no depth.
    """

    def __init__(self, algorithm: type, roots: Iterable[type], known: Held) -> None:
        self._roots = (*roots, ABC, object)
        self._packages = {it.__module__.partition(".")[0] for it in algorithm.__mro__ if it not in self._roots}
        #: Whether packages are the user's.
        self._own: dict[str, bool] = {}
        #: Digests of objects that were read; empty while they are. Whether two equal objects are one says nothing.
        self._read_before: dict[tuple[int, frozenset[str]], str] = {}
        # An object that is read and freed could give its number to another one.
        self._kept: list[Any] = []
        self._known = known
        self._left = _MOST
        self._stack: list[_Frame] = []
        #: Words and parts of the value that is read now.
        self._parts: list[str | _Part] = []
        self.held: Held = {}

    def digest(self, value: Any) -> str:
        """Return the digest of an object."""
        whole = _Frame(_Part(None), [_Part(value)], is_object=False)
        self._stack = [whole]
        while True:
            frame = self._stack[-1]
            part = next(frame.parts, None)
            if isinstance(part, str):
                frame.words.append(part)
            elif part is not None:
                self._begin(part)
            elif frame is whole:
                return whole.words[0]
            else:
                self._end(frame.digest())

    def _begin(self, part: _Part) -> None:
        """Take the digest of a part, or put the part on the stack."""
        digest = self._digest_now(part)
        if digest is not None:
            self._take(part, digest)
            return
        is_object = not issubclass(type(part.value), _CODE)
        self._left -= _OBJECT
        self._read_before[id(part.value), part.names] = ""
        self._kept.append(part.value)
        parts = [] if is_object and self._left < 0 else self._parts_of(part.value, part.names)
        self._stack.append(_Frame(part, parts, is_object=is_object))
        if is_object and self._left < 0:
            self._give_up()

    def _digest_now(self, part: _Part) -> str | None:
        """Return a digest that needs no reading, or that is known."""
        value, names, held = part
        if held is not None:
            _, digest = self._known.get((id(held[0]), held[1]), (None, ""))
            if digest:
                return digest
        return self._plain(value) or self._read_before.get((id(value), names))

    def _plain(self, value: Any) -> str | None:
        if type(value) not in _PLAIN:
            return None
        # A long `int` has no decimal text.
        text = hex(value) if type(value) is int else repr(value)
        self._left -= 1 + len(text) // _TEXT
        word = f"{type(value).__name__}:{text}"
        return word if len(word) < _SHORT else _digest([word])

    def _end(self, digest: str) -> None:
        """Take a value from the stack whose digest is known."""
        part = self._stack.pop().part
        self._read_before[id(part.value), part.names] = digest
        self._take(part, digest)

    def _take(self, part: _Part, digest: str) -> None:
        """Give the digest of a part to the value that is read."""
        self._stack[-1].words.append(digest)
        # Code changes by hand only, and what it reaches has digests of its own.
        if part.held is not None and not callable(part.value):
            holder, name = part.held
            self.held[id(holder), name] = holder, digest

    def _give_up(self) -> None:
        """End a value that reaches too much, as a whole: the order of the parts of a set is random."""
        while self._stack[-1].is_object:
            self._end(_OPAQUE)

    def _parts_of(self, value: Any, names: frozenset[str]) -> list[str | _Part]:
        self._parts = []
        kind = type(value)
        if issubclass(kind, ModuleType):
            self._module(value, names)
        elif issubclass(kind, type):
            self._class(value)
        elif issubclass(kind, FunctionType):
            self._function(value)
        elif issubclass(kind, CodeType):
            self._code(value)
        elif issubclass(kind, _NAMED):
            self._put("named", _name(value))
        else:
            self._object(value)
        return self._parts

    def _put(self, *words: str | _Part) -> None:
        self._parts.extend(words)

    def _all(self, kind: str, values: Iterable[Any]) -> None:
        parts = [self._plain(value) or _Part(value) for value in values]
        self._put(kind, str(len(parts)), *parts)

    def _is_own(self, module: Any) -> bool:
        """Whether a module is the user's: neither of an installed package nor of the standard library."""
        package = module.partition(".")[0] if isinstance(module, str) else ""
        if package not in self._own:
            self._own[package] = package in self._packages or not _is_installed(package)
        return self._own[package]

    def _module(self, module: ModuleType, names: frozenset[str]) -> None:
        self._put("module", module.__name__ if not self._is_own(module.__name__) else "")
        if self._is_own(module.__name__):
            for name in sorted(names & vars(module).keys()):
                self._variable(vars(module), name, names)

    def _variable(self, variables: dict[str, Any], name: str, names: frozenset[str]) -> None:
        value = variables[name]
        is_module = issubclass(type(value), ModuleType)
        self._put("variable", name, _Part(value, names) if is_module else _Part(value, held=(variables, name)))

    def _class(self, of: type) -> None:
        self._put("class", of.__name__)
        if of in self._roots or not self._is_own(of.__module__):
            self._put(str(of.__module__))
            return
        self._all("bases", of.__bases__)
        own = {name: value for name, value in vars(of).items() if name not in _OF_ALL}
        for name in sorted(own):
            self._put("attribute", name, _Part(own[name], held=(of, name)))

    def _function(self, of: FunctionType) -> None:
        self._put("function", of.__name__)
        if not self._is_own(of.__module__):
            self._put(str(of.__module__))
            return
        self._put(_Part(of.__code__))
        keywords = sorted((of.__kwdefaults__ or {}).items())
        for name, value in [*((str(place), it) for place, it in enumerate(of.__defaults__ or ())), *keywords]:
            self._put("default", name, _Part(value, held=(of, name)))
        for cell in of.__closure__ or ():
            self._put("closure", *(_Part(value, held=(cell, "")) for value in _content(cell)))
        loaded, names = _names_in(of.__code__)
        for name in sorted(loaded & of.__globals__.keys()):
            self._variable(of.__globals__, name, names)
        for name in sorted(names - loaded):
            # What a function imports itself.
            if name in sys.modules and self._is_own(name) and not hasattr(builtins, name):
                self._put(_Part(sys.modules[name], names))
        own = {name: it for name, it in vars(of).items() if name not in _OF_ALL}
        self._all("attributes", (item for pair in sorted(own.items()) for item in pair))

    def _code(self, of: CodeType) -> None:
        self._put("code", of.co_name, of.co_code.hex(), getattr(of, "co_exceptiontable", b"").hex())
        self._put(str((of.co_argcount, of.co_posonlyargcount, of.co_kwonlyargcount, of.co_flags)))
        for names in (of.co_names, of.co_varnames, of.co_freevars, of.co_cellvars):
            self._put(*names)
        self._all("constants", of.co_consts)

    def _object(self, value: Any) -> None:
        self._put("object", _name(type(value)))
        try:
            self._content(value)
            if self._left < 0:
                raise OverflowError
        except Exception:
            # A lock, an open file: it has no value that could be compared.
            self._parts = ["object", _name(type(value)), _OPAQUE]
        if self._is_own(type(value).__module__):
            self._put(_Part(type(value)))

    def _content(self, value: Any) -> None:
        """Read the parts of an object, by its type: what it says of itself may be made anew for ever."""
        kind = type(value)
        if issubclass(kind, tuple):
            self._all("items", self._listed(tuple.__iter__(value)))
        elif issubclass(kind, list):
            self._all("items", self._listed(list.__iter__(value)))
        elif issubclass(kind, dict):
            self._all("pairs", (item for pair in self._listed(iter(dict.items(value))) for item in pair))
        elif issubclass(kind, MappingProxyType):
            self._all("pairs", (item for pair in self._listed(iter(value.items())) for item in pair))
        elif issubclass(kind, set):
            self._put(*map(_Part, self._listed(set.__iter__(value))))
        elif issubclass(kind, frozenset):
            self._put(*map(_Part, self._listed(frozenset.__iter__(value))))
        elif issubclass(kind, staticmethod | classmethod | MethodType):
            self._all("method", (value.__func__, getattr(value, "__self__", None)))
        elif issubclass(kind, property):
            self._all("property", (value.fget, value.fset, value.fdel))
        elif issubclass(kind, BaseException):
            # Where it was raised, and what was raised before, is no part of its value.
            self._all("exception", (value.args, vars(value)))
        elif issubclass(kind, _OF_RUNS):
            self._put(_OPAQUE)
        elif callable(value) and callable(wrapped := inspect.getattr_static(value, "__wrapped__", None)):
            self._put(_Part(wrapped))
        else:
            self._reduced(value)

    def _reduced(self, value: Any) -> None:
        """Read an object as a pickle of it says: a function, its arguments, and the state."""
        reduce = copyreg.dispatch_table.get(type(value))
        reduced = reduce(value) if reduce is not None else value.__reduce_ex__(4)
        parts = [reduced] if isinstance(reduced, str) else [self._listed(part) for part in reduced]
        self._all("reduced", parts)

    def _listed(self, part: Any) -> Any:
        """Return the items of an iterator, which may be endless."""
        if not hasattr(part, "__next__"):
            return part
        items = list(islice(part, max(self._left, 0) + 1))
        if len(items) > self._left:
            self._left = -1
            raise OverflowError
        return items


def _content(cell: CellType) -> list[Any]:
    try:
        return [cell.cell_contents]
    except ValueError:
        return []


def _digest(words: list[str]) -> str:
    text = "".join([f"{len(word)}:{word}" for word in words])
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _name(of: Any) -> str:
    return f"{getattr(of, '__module__', None)}.{getattr(of, '__qualname__', type(of).__name__)}"


def _names_in(code: CodeType) -> tuple[set[str], frozenset[str]]:
    """Return the variables of the module that code reads, and all names in it."""
    loaded = {it.argval for it in dis.get_instructions(code) if it.opname in _LOADS}
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner_loaded, inner_names = _names_in(constant)
            loaded |= inner_loaded
            names |= inner_names
    return loaded, frozenset(names)


def _is_installed(package: str) -> bool:
    """Whether a package is an installed one, or of the standard library."""
    if package == "recoup" or package in sys.builtin_module_names or package in sys.stdlib_module_names:
        return True
    file = getattr(sys.modules.get(package), "__file__", None)
    return file is not None and any(Path(file).is_relative_to(place) for place in _installed())


@functools.cache
def _installed() -> tuple[Path, ...]:
    places = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    return tuple(Path(it) for it in (*places, site.getusersitepackages()) if it)
