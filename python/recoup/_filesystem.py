"""The file system ``ndn://`` of fsspec: named content as files that are read by ranges of bytes.

>>> import pandas                                                    # doctest: +SKIP
>>> pandas.read_parquet("ndn:///site/data.parquet", columns=["x"])   # doctest: +SKIP

A URL is ``ndn://`` and a name. Options of the file system (``storage_options``) are those of `recoup.Client`.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from typing import Any, ClassVar

from fsspec.asyn import AsyncFileSystem, sync_wrapper
from fsspec.spec import AbstractBufferedFile

from recoup._client import Client, Fetch
from recoup._errors import NotFoundError
from recoup._operation import finish

#: Versions of objects that stay open with what is cached of them.
_MOST_OPEN = 64
#: Seconds for which the newest version of a name counts as that.
_FRESH_S = 2.0
#: What an open file reads ahead, in bytes: readers of columns jump, and would fetch what they do not need.
_BLOCK_BYTES = 256 << 10


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
        name = str(path).removeprefix("ndn://").rstrip("/")
        return name if name.startswith("/") else f"/{name}"

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL of a name."""
        return f"ndn://{self._strip_protocol(name)}"

    async def _connected(self) -> Client:
        # Neither threads nor sockets survive a fork.
        if self._process != os.getpid():
            self._process, self._client = os.getpid(), None
            self._readers = OrderedDict()
        if self._client is None:
            self._client = await Client.connect_async(self._face, **self._options)
        return self._client

    async def _fetch(self, path: str) -> Fetch:
        return (await self._connected()).fetch(self._strip_protocol(path), cache=self._cache)

    async def _reader(self, path: str) -> Any:
        fetch = await self._fetch(path)
        name = self._strip_protocol(path)
        opened, reader = self._readers.get(name, (0.0, None))
        # A version never changes; a name without one may have a newer version by now.
        if reader is None or (reader.name != name and time.monotonic() - opened > _FRESH_S):
            reader = await _opened(fetch, path)
            self._readers[name] = (time.monotonic(), reader)
        self._readers.move_to_end(name)
        while len(self._readers) > _MOST_OPEN:
            self._readers.popitem(last=False)
        return reader

    async def _info(self, path: str, **_: Any) -> dict[str, Any]:
        client = await self._connected()
        name = self._strip_protocol(path)
        try:
            info = await client.head_async(name)
        except NotFoundError as error:
            raise FileNotFoundError(path) from error
        kind = "directory" if info.is_folder else "file"
        size = None if info.is_folder else info.size
        return {"name": name, "size": size, "type": kind, "mtime": info.modified, "version": info.name}

    async def _cat_file(self, path: str, start: int | None = None, end: int | None = None, **_: Any) -> bytes:
        reader = await self._reader(path)
        size = reader.size
        begin = 0 if start is None else start + size if start < 0 else start
        until = size if end is None else end + size if end < 0 else end
        if begin >= min(until, size):
            return b""
        content: bytes = await finish(reader.read(begin, min(until, size)))
        return content

    async def _ls(self, path: str, detail: bool = True, **_: Any) -> list[Any]:
        info = await self._info(path)
        if info["type"] == "file":
            return [info] if detail else [info["name"]]
        client = await self._connected()
        entries = await client.list_folder_async(self._strip_protocol(path))
        folder = info["name"].rstrip("/")
        listed = [
            {"name": f"{folder}/{entry.name}", "size": None, "type": "directory" if entry.is_folder else "file"}
            for entry in entries
        ]
        return listed if detail else [entry["name"] for entry in listed]

    async def _get_file(self, rpath: str, lpath: str, **_: Any) -> None:
        if os.path.isdir(lpath):
            return
        await (await self._fetch(rpath)).to_file_async(lpath)

    def _open(self, path: str, mode: str = "rb", block_size: Any = None, **options: Any) -> NdnFile:
        if mode != "rb":
            message = f"named content is read, and not written: mode {mode!r}"
            raise ValueError(message)
        return NdnFile(self, path, mode, block_size or _BLOCK_BYTES, **options)

    cat_file = sync_wrapper(_cat_file)


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
        content: bytes = self.fs.cat_file(self.details["version"], start, end)
        return content
