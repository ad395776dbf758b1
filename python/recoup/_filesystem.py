"""The file system ``ndn://`` of fsspec: named content as files that are read by ranges of bytes.

>>> import pandas                                                    # doctest: +SKIP
>>> pandas.read_parquet("ndn:///site/data.parquet", columns=["x"])   # doctest: +SKIP

A URL is ``ndn://`` and a path. Each part of a path is one component of the name, as it is: ``%41``, ``=`` and ``v=1``
have no meaning of their own. So each path that ``ls`` gives is that of the file, and ``year=2024`` stays readable as a
partition. What only a URI can say, such as a version, is for the methods of `recoup.Client`.
Options of the file system (``storage_options``) are those of `recoup.Client`.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime
from typing import Any, ClassVar

from fsspec.asyn import AsyncFileSystem, sync_wrapper
from fsspec.core import has_magic
from fsspec.spec import AbstractBufferedFile

from recoup import _native
from recoup._client import Client, Fetch
from recoup._errors import ConditionError, NotFoundError
from recoup._operation import finish

#: Versions of objects that stay open with what is cached of them.
_MOST_OPEN = 64
#: Seconds for which the newest version of a name counts as that.
_FRESH_S = 2.0
#: What an open file reads ahead, in bytes: readers of columns jump, and would fetch what they do not need.
_BLOCK_BYTES = 256 << 10
#: Folders inside folders that a walk enters, and entries that it lists. A listing of a producer may contain itself.
_MOST_DEPTH = 64
_MOST_ENTRIES = 1_000_000


class NdnFileSystem(AsyncFileSystem):  # type: ignore[misc]
    """Named content as a read-only file system.

    Parameters
    ----------
    face : str, optional
        Address of the forwarder; see `recoup.Client`.
    client : recoup.Client, optional
        A client to use instead.
    cache : int
        What is kept of each object that was read, in bytes.
    **options
        Options of `recoup.Client`, such as ``verify``, and those of fsspec.
    """

    protocol: ClassVar[str] = "ndn"
    root_marker = "/"

    def __init__(
        self,
        face: str | None = None,
        *,
        client: Client | None = None,
        cache: int = 16 << 20,
        asynchronous: bool = False,
        loop: Any = None,
        **options: Any,
    ) -> None:
        own = {key: options.pop(key) for key in list(options) if key not in _FSSPEC_OPTIONS}
        super().__init__(asynchronous=asynchronous, loop=loop, **options)
        self._face = face
        self._given = client
        self._options = own
        self._cache = cache
        self._client: Client | None = client
        self._process = os.getpid()
        self._readers: OrderedDict[str, tuple[float, Any]] = OrderedDict()

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return "/" + "/".join(_parts(path))

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL of a path."""
        return f"ndn://{self._strip_protocol(name)}"

    async def _connected(self) -> Client:
        # Neither threads nor sockets survive a fork.
        if self._process != os.getpid():
            self._process, self._client = os.getpid(), None
            self._readers = OrderedDict()
        if self._client is None:
            self._client = await Client.connect_async(self._face, **self._options)
        return self._client

    async def _fetch(self, uri: str) -> Fetch:
        return (await self._connected()).fetch(uri, cache=self._cache)

    async def _reader(self, uri: str, path: str) -> Any:
        opened, reader = self._readers.get(uri, (0.0, None))
        # A version never changes; a name without one may have a newer version by now.
        if reader is None or (reader.name != uri and time.monotonic() - opened > _FRESH_S):
            reader = await _opened(await self._fetch(uri), path)
            self._readers[uri] = (time.monotonic(), reader)
        self._readers.move_to_end(uri)
        while len(self._readers) > _MOST_OPEN:
            self._readers.popitem(last=False)
        return reader

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        client = await self._connected()
        try:
            info = await client.head_async(_uri(path))
        except NotFoundError as error:
            raise FileNotFoundError(path) from error
        kind = "directory" if info.is_folder else "file"
        size = None if info.is_folder else info.size
        name = self._strip_protocol(path)
        return {"name": name, "size": size, "type": kind, "mtime": info.modified, "version": info.name}

    def modified(self, path: str) -> datetime:
        """Return the time of the last change of an object, as its producer says; 1970 if it does not say so."""
        return datetime.fromtimestamp(self.info(path)["mtime"] or 0.0, UTC)

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        return await self._cat_object(_uri(path), path, start, end)

    async def _cat_object(self, uri: str, path: str, start: int | None, end: int | None) -> bytes:
        reader = await self._reader(uri, path)
        size = reader.size
        begin = 0 if start is None else start + size if start < 0 else start
        until = size if end is None else end + size if end < 0 else end
        if begin >= min(until, size):
            return b""
        content: bytes = await finish(reader.read(begin, min(until, size)))
        return content

    async def _ls(self, path: str, detail: bool = True, tree: _Tree | None = None, **_: Any) -> list[Any]:
        if tree is not None:
            tree.enter(path)
        info = await self._info(path)
        if info["type"] == "file":
            return [info] if detail else [info["name"]]
        client = await self._connected()
        entries = await client.list_folder_async(_uri(path))
        if tree is not None:
            tree.add(len(entries))
        folder = info["name"].rstrip("/")
        listed = [
            {"name": f"{folder}/{entry.name}", "size": None, "type": "directory" if entry.is_folder else "file"}
            for entry in entries
        ]
        return listed if detail else [entry["name"] for entry in listed]

    # Both ways of fsspec to go through folders hand their options on to the folders inside, and to `ls`.
    async def _walk(self, path: str, *arguments: Any, **options: Any) -> AsyncIterator[Any]:
        options.setdefault("tree", _Tree(path))
        async for step in super()._walk(path, *arguments, **options):
            yield step

    def walk(self, path: str, *arguments: Any, **options: Any) -> Iterator[Any]:
        """List all folders inside a folder, as ``os.walk`` does.

        Raises
        ------
        ConditionError
            If the producer lists more than anybody has: its listings may contain themselves.
        """
        options.setdefault("tree", _Tree(path))
        yield from super().walk(path, *arguments, **options)

    async def _expand_path(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> list[str]:
        # A file may be called as a pattern looks: what is there comes before what matches.
        if isinstance(path, str) and not recursive and has_magic(path) and await self._exists(path):
            return [self._strip_protocol(path)]
        paths: list[str] = await super()._expand_path(path, recursive, maxdepth)
        return paths

    async def _get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        if os.path.isdir(lpath):
            return
        await (await self._fetch(_uri(rpath))).to_file_async(lpath)

    def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> NdnFile:
        if mode != "rb":
            message = f"named content is read, and not written: mode {mode!r}"
            raise ValueError(message)
        return NdnFile(self, path, mode, block_size or _BLOCK_BYTES, **options)

    cat_file = sync_wrapper(_cat_file)
    cat_object = sync_wrapper(_cat_object)


def _parts(path: Any) -> list[str]:
    """Return the parts of a path or URL. No file has an empty name."""
    text = os.fspath(path) if isinstance(path, os.PathLike) else str(path)
    return [part for part in text.removeprefix("ndn:").split("/") if part]


def _uri(path: Any) -> str:
    """Return the name of a path as a URI."""
    return _native.name_of([part.encode("utf-8", "surrogateescape") for part in _parts(path)])


class _Tree:
    """What a walk has seen of the folders below a path."""

    def __init__(self, path: Any) -> None:
        self._root = _parts(path)
        self._entries = 0

    def enter(self, path: Any) -> None:
        """Note that a folder is listed."""
        if len(_parts(path)) - len(self._root) > _MOST_DEPTH:
            self._refuse(f"{_MOST_DEPTH} folders inside folders")

    def add(self, entries: int) -> None:
        """Note what its listing has."""
        self._entries += entries
        if self._entries > _MOST_ENTRIES:
            self._refuse(f"{_MOST_ENTRIES:,} entries")

    def _refuse(self, limit: str) -> None:
        message = f"/{'/'.join(self._root)} lists more than {limit}; a listing may contain itself"
        raise ConditionError(message, "list a folder inside it, or set `maxdepth`", 8)


_FSSPEC_OPTIONS = frozenset(
    {"batch_size", "use_listings_cache", "listings_expiry_time", "max_paths", "skip_instance_cache"}
)


async def _opened(fetch: Fetch, path: str) -> Any:
    try:
        return await fetch._reader_async()
    except NotFoundError as error:
        raise FileNotFoundError(path) from error


class NdnFile(AbstractBufferedFile):  # type: ignore[misc]
    """An object that is open for reading."""

    def _fetch_range(self, start: int, end: int) -> bytes:
        # All of a file is of the version that was the newest when it was opened.
        content: bytes = self.fs.cat_object(self.details["version"], self.path, start, end)
        return content
