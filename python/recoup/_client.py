"""Fetching and serving named content."""

from __future__ import annotations

import asyncio
import io
import json
import os
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict, Unpack, cast

from recoup import _native
from recoup._operation import finish
from recoup._progress import Meter, Progress

if TYPE_CHECKING:
    from types import TracebackType

    from _typeshed import WriteableBuffer

    from recoup._native import Operation
    from recoup._spec import Spec

_PathLike = str | os.PathLike[str]


class FetchOptions(TypedDict, total=False):
    """How content is fetched. Everything may be left out; the defaults are those of ``recoup fetch``.

    Durations are texts with a unit such as ``"4s"`` or ``"200ms"``.
    """

    congestion: str | Spec
    """Congestion control."""
    rto: str | Spec
    """Retransmission timer."""
    loss: str | Spec
    """Rule that declares a segment lost before its timer expires."""
    sampling: str
    """Which segments give round-trip time samples: ``per-rtt``, ``every`` or ``rfc7323``."""
    lifetime: str
    """InterestLifetime."""
    retries: int | str
    """How often one segment is retransmitted at most, or ``"unlimited"``."""
    no_progress: str
    """Give up when nothing arrived for this long."""
    max_time: str
    """Give up if the whole does not arrive within this time."""
    verify: str
    """``auto``, ``digest``, ``none``, or ``key=NAME``."""
    discover: bool
    """Find the newest version, unless the name ends in one."""
    must_be_fresh: bool
    """Ask for fresh Data only."""
    newer_than: int
    """Fetch only a version newer than this one."""
    react_to_marks: bool
    """A congestion mark reduces the window."""


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a producer says of the newest version of an object."""

    name: str
    """Its name, with the version."""
    size: int | None
    """Length in bytes."""
    segment_size: int | None
    """Length of every segment but the last, in bytes."""
    last_segment: int | None
    """Number of the last segment."""
    modified: float | None
    """Time of the last change, in seconds since 1970."""
    is_folder: bool
    """It is the listing of a folder."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder that is served."""

    name: str
    """Its name in the folder. Bytes that are no UTF-8 are surrogates, as ``os.fsdecode`` makes them."""
    is_folder: bool
    """It is a folder itself."""
    uri: str
    """Its whole name as a URI, which the methods of `Client` take."""


#: Longest listing of a folder, in bytes.
_MOST_LISTING = 16 << 20


class Client:
    """A handle to one thread that owns the sockets; cheap to keep, and safe to share between threads.

    Parameters
    ----------
    face : str, optional
        Address of the forwarder, such as ``unix:///run/nfd/nfd.sock`` or ``udp4://192.0.2.1:6363``.
        Without it, the client is found as the command ``recoup`` finds it.
    recovery : str, optional
        How losses on the link to the forwarder are recovered.
    max_memory : int, optional
        Limit of content that is fetched into memory, in bytes; 1 GiB without it.
    seed : int, optional
        Makes nonces and other random choices repeatable. For tests.
    alone : bool
        Use no forwarder: what this client serves and what it reaches directly is all there is.
    **options
        Defaults of each fetch, see `FetchOptions`.

    Examples
    --------
    >>> client = recoup.Client(alone=True)
    >>> with client.serve("/greeting", b"hello"):
    ...     client.get("/greeting")
    b'hello'
    """

    def __init__(
        self,
        face: str | None = None,
        *,
        recovery: str | None = None,
        max_memory: int | None = None,
        seed: int | None = None,
        alone: bool = False,
        **options: Unpack[FetchOptions],
    ) -> None:
        connecting = _native.Client.connect(face, recovery, max_memory, seed, alone)
        self._native: _native.Client = connecting.wait()
        self._options = options

    @classmethod
    async def connect_async(
        cls,
        face: str | None = None,
        *,
        recovery: str | None = None,
        max_memory: int | None = None,
        seed: int | None = None,
        alone: bool = False,
        **options: Unpack[FetchOptions],
    ) -> Client:
        """Start a client without blocking the event loop. The parameters are those of `Client`."""
        client = cls.__new__(cls)
        connecting = _native.Client.connect(face, recovery, max_memory, seed, alone)
        client._native = await finish(connecting)
        client._options = options
        return client

    def get(
        self,
        name: str,
        *,
        max_size: int | None = None,
        progress: Progress = False,
        **options: Unpack[FetchOptions],
    ) -> bytes:
        """Fetch an object into memory.

        Parameters
        ----------
        name : str
            Its name, such as ``/site/greeting``.
        max_size : int, optional
            Fail with `ConditionError` if it is longer, in bytes.
        progress : bool or callable
            ``True`` shows a bar of tqdm; a function is called with the bytes so far, and all of them if known.
        **options
            See `FetchOptions`.

        Returns
        -------
        bytes
            The content.

        Raises
        ------
        NotFoundError, TimedOutError, VerificationError, UnreachableError
            As the command ``recoup fetch`` fails.
        """
        return self.fetch(name, max_size=max_size, **options).to_bytes(progress=progress)

    async def get_async(
        self,
        name: str,
        *,
        max_size: int | None = None,
        progress: Progress = False,
        **options: Unpack[FetchOptions],
    ) -> bytes:
        """Fetch an object into memory. As `get`; cancelling the task cancels the fetch."""
        fetch = self.fetch(name, max_size=max_size, **options)
        return await fetch.to_bytes_async(progress=progress)

    def fetch(
        self,
        name: str,
        *,
        segments: tuple[int, int | None] | None = None,
        byte_range: tuple[int, int | None] | None = None,
        max_size: int | None = None,
        cache: int | None = None,
        **options: Unpack[FetchOptions],
    ) -> Fetch:
        """Describe a fetch; its methods begin it.

        Parameters
        ----------
        name : str
            Name of the object.
        segments : (int, int or None), optional
            First segment, and the one after the last.
        byte_range : (int, int or None), optional
            First byte, and the one after the last. Not for files.
        max_size : int, optional
            Fail with `ConditionError` if the object is longer, in bytes.
        cache : int, optional
            What a file object keeps of the content it has read, in bytes; 16 MiB without it.
        **options
            See `FetchOptions`.

        Returns
        -------
        Fetch
            The description.
        """
        merged = {**self._options, **options}
        return Fetch(self._native, name, segments, byte_range, max_size, cache, cast("FetchOptions", merged))

    def head(self, name: str) -> ObjectInfo:
        """Ask what is known of the newest version of an object, in one exchange if it has metadata."""
        return ObjectInfo(**self._native.head(name).wait())

    async def head_async(self, name: str) -> ObjectInfo:
        """Ask what is known of the newest version of an object."""
        return ObjectInfo(**await finish(self._native.head(name)))

    def list_folder(self, name: str) -> list[Entry]:
        """List a folder that is served. Names that no file can have are left out."""
        return _entries(name, self.get(_native.listing_of(name), max_size=_MOST_LISTING))

    async def list_folder_async(self, name: str) -> list[Entry]:
        """List a folder that is served. As `list_folder`."""
        return _entries(name, await self.get_async(_native.listing_of(name), max_size=_MOST_LISTING))

    def get_packet(self, name: str) -> bytes:
        """Fetch the content of one Data packet."""
        return cast("bytes", self._native.get_packet(name).wait())

    async def get_packet_async(self, name: str) -> bytes:
        """Fetch the content of one Data packet."""
        return cast("bytes", await finish(self._native.get_packet(name)))

    def ping(self, name: str) -> float:
        """Measure one round trip to whoever answers below a name, in seconds."""
        return cast("float", self._native.ping(name).wait())

    async def ping_async(self, name: str) -> float:
        """Measure one round trip to whoever answers below a name, in seconds."""
        return cast("float", await finish(self._native.ping(name)))

    def serve(
        self,
        prefix: str,
        content: Content,
        *,
        listen: str | list[str] | tuple[str, ...] = (),
        sign: str | None = None,
        freshness: float = 10.0,
        segment_size: int = 8_000,
        version: int | None = None,
        silent: bool = False,
    ) -> Server:
        """Serve content below a prefix until the server is closed.

        Parameters
        ----------
        prefix : str
            Name of the content, or of what a function answers.
        content : bytes, path or callable
            Bytes; a file or folder by its path (``os.PathLike`` or ``str``); or a function that gets the name of each
            Interest and returns the content of one Data packet, or ``None`` where there is none. A function is called
            in background threads.
        listen : str or list of str
            Addresses at which consumers reach it without a forwarder, such as ``udp4://0.0.0.0:6363``.
        sign : str, optional
            Key of the key store, or a file with one; ``digest`` without it.
        freshness : float
            How long caches may call an answer fresh, in seconds.
        segment_size : int
            Content per segment, in bytes.
        version : int, optional
            Version number; that of the last change without it.
        silent : bool
            Leave Interests for unknown names without an answer.

        Returns
        -------
        Server
            The server; a context manager.
        """
        offer = _offer(prefix, listen, sign, freshness, segment_size, version, silent)
        return Server(self._begin_serving(offer, content).wait())

    async def serve_async(
        self,
        prefix: str,
        content: Content,
        *,
        listen: str | list[str] | tuple[str, ...] = (),
        sign: str | None = None,
        freshness: float = 10.0,
        segment_size: int = 8_000,
        version: int | None = None,
        silent: bool = False,
    ) -> Server:
        """Serve content below a prefix. As `serve`; the server is an asynchronous context manager, too."""
        offer = _offer(prefix, listen, sign, freshness, segment_size, version, silent)
        return Server(await finish(self._begin_serving(offer, content)))

    def _begin_serving(self, offer: dict[str, Any], content: Content) -> Operation:
        if isinstance(content, bytes | bytearray | memoryview):
            return self._native.serve_bytes(offer, bytes(content))
        if isinstance(content, str | os.PathLike):
            path = os.fspath(content)
            if os.path.isdir(path):
                return self._native.serve_folder(offer, path)
            return self._native.serve_file(offer, path)
        return self._native.serve_function(offer, content)


def _entries(folder: str, listing: bytes) -> list[Entry]:
    entries = _native.read_listing(folder, listing)
    return [Entry(name.decode("utf-8", "surrogateescape"), is_folder, uri) for name, is_folder, uri in entries]


Content = bytes | bytearray | memoryview | _PathLike | Callable[[str], bytes | None]


def _offer(
    prefix: str,
    listen: str | list[str] | tuple[str, ...],
    sign: str | None,
    freshness: float,
    segment_size: int,
    version: int | None,
    silent: bool,
) -> dict[str, Any]:
    return {
        "prefix": prefix,
        "listen": [listen] if isinstance(listen, str) else list(listen),
        "sign": sign,
        "freshness": freshness,
        "segment_size": segment_size,
        "version": version,
        "silent": silent,
    }


class Fetch:
    """A fetch that was described by `Client.fetch`. Each method begins it once; iterating yields pieces of content."""

    def __init__(
        self,
        client: _native.Client,
        name: str,
        segments: tuple[int, int | None] | None,
        byte_range: tuple[int, int | None] | None,
        max_size: int | None,
        cache: int | None,
        options: FetchOptions,
    ) -> None:
        self._client = client
        self._name = name
        self._request: dict[str, Any] = {
            "name": name,
            "options": _json(options),
            "segments": segments,
            "bytes": byte_range,
            "max_size": max_size,
            "cache": cache,
            "progress": None,
        }

    def __repr__(self) -> str:
        return f"<recoup.Fetch of {self._name}>"

    def _with(self, meter: Meter) -> dict[str, Any]:
        return {**self._request, "progress": meter.update_transfer if meter.is_wanted else None}

    def to_bytes(self, *, progress: Progress = False) -> bytes:
        """Fetch into memory."""
        with Meter(progress, "B", self._name) as meter:
            return cast("bytes", self._client.fetch_bytes(self._with(meter)).wait())

    async def to_bytes_async(self, *, progress: Progress = False) -> bytes:
        """Fetch into memory."""
        with Meter(progress, "B", self._name) as meter:
            return cast("bytes", await finish(self._client.fetch_bytes(self._with(meter))))

    def to_file(self, path: _PathLike, *, resume: bool = False, progress: Progress = False) -> dict[str, Any]:
        """Fetch into a file, which bears another name until it is complete.

        Parameters
        ----------
        path : path
            The file.
        resume : bool
            Continue an interrupted download of the same version.
        progress : bool or callable
            As of `Client.get`.

        Returns
        -------
        dict
            The figures of the fetch, as ``recoup fetch --json`` prints them.
        """
        with Meter(progress, "B", self._name) as meter:
            fetch = self._client.fetch_file(self._with(meter), os.fspath(path), resume)
            return cast("dict[str, Any]", json.loads(fetch.wait()))

    async def to_file_async(
        self, path: _PathLike, *, resume: bool = False, progress: Progress = False
    ) -> dict[str, Any]:
        """Fetch into a file. As `to_file`; what has arrived is kept when the task is cancelled."""
        with Meter(progress, "B", self._name) as meter:
            fetch = self._client.fetch_file(self._with(meter), os.fspath(path), resume)
            return cast("dict[str, Any]", json.loads(await finish(fetch)))

    def open(self, *, buffer_size: int = io.DEFAULT_BUFFER_SIZE) -> io.BufferedReader:
        """Open the object as a binary file object that can be read and seeked.

        Parameters
        ----------
        buffer_size : int
            Size of the buffer of the file object, in bytes.

        Returns
        -------
        io.BufferedReader
            The file object. Its ``raw`` is an `ObjectReader`.
        """
        return io.BufferedReader(ObjectReader(self._reader()), buffer_size)

    def _reader(self) -> _native.Reader:
        return cast("_native.Reader", self._client.reader(self._request).wait())

    async def _reader_async(self) -> _native.Reader:
        return cast("_native.Reader", await finish(self._client.reader(self._request)))

    def __iter__(self) -> Iterator[bytes]:
        stream: _native.Stream = self._client.stream(self._request).wait()
        while piece := stream.next().wait():
            yield piece

    async def __aiter__(self) -> AsyncIterator[bytes]:
        stream: _native.Stream = await finish(self._client.stream(self._request))
        while piece := await finish(stream.next()):
            yield piece


class ObjectReader(io.RawIOBase):
    """One version of an object as a raw file object. Reading fetches the segments with the bytes, and no others."""

    def __init__(self, reader: _native.Reader) -> None:
        super().__init__()
        self._reader = reader
        self._position = 0

    @property
    def name(self) -> str:
        """Name of the object, with its version."""
        return self._reader.name

    @property
    def size(self) -> int:
        """Length in bytes."""
        return self._reader.size

    @property
    def fetched_segments(self) -> int:
        """Segments that were fetched over the network, those of the cache not counted."""
        return cast("int", self._reader.fetched_segments().wait())

    def readable(self) -> bool:
        """Return True."""
        return True

    def seekable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        """Read bytes into a buffer."""
        view = memoryview(buffer).cast("B")
        end = self._position + len(view)
        content = cast("bytes", self._reader.read(self._position, end).wait())
        view[: len(content)] = content
        self._position += len(content)
        return len(content)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position."""
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self.size}[whence]
        if base + offset < 0:
            message = f"cannot seek to {base + offset}"
            raise ValueError(message)
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        """Return the position."""
        return self._position


class Server:
    """A server in operation. Leaving its context closes it."""

    def __init__(self, server: _native.Server) -> None:
        self._server = server

    @property
    def name(self) -> str:
        """Name of what is served, with its version where it has one."""
        return self._server.name

    @property
    def faces(self) -> list[str]:
        """The addresses at which it can be reached."""
        return self._server.faces

    def summary(self) -> dict[str, int] | None:
        """Return its figures so far; ``None`` once it is closed.

        Returns
        -------
        dict
            ``segments`` answered, ``bytes`` of content sent, ``metadata`` answers, Interests for ``unknown`` names.
        """
        return self._server.summary()

    def close(self) -> None:
        """End it, and withdraw its registration."""
        self._server.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Server:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await asyncio.to_thread(self.close)


def _json(options: FetchOptions) -> str:
    document = {}
    for key, value in options.items():
        plain = isinstance(value, bool | int | float | str)
        document[key.replace("_", "-")] = value if plain else str(value)
    return json.dumps(document)


_DEFAULT: dict[int, Client] = {}
_LOCK = threading.Lock()


def default_client() -> Client:
    """Return the client of this process, which the functions of the package use. A child process gets its own."""
    with _LOCK:
        process = os.getpid()
        if process not in _DEFAULT:
            _DEFAULT[process] = Client()
        return _DEFAULT[process]


def get(
    name: str,
    *,
    max_size: int | None = None,
    progress: Progress = False,
    **options: Unpack[FetchOptions],
) -> bytes:
    """Fetch an object into memory with the default client; see `Client.get`."""
    return default_client().get(name, max_size=max_size, progress=progress, **options)


async def get_async(
    name: str,
    *,
    max_size: int | None = None,
    progress: Progress = False,
    **options: Unpack[FetchOptions],
) -> bytes:
    """Fetch an object into memory with the default client; see `Client.get_async`."""
    client = await asyncio.to_thread(default_client)
    return await client.get_async(name, max_size=max_size, progress=progress, **options)


def fetch(
    name: str,
    *,
    segments: tuple[int, int | None] | None = None,
    byte_range: tuple[int, int | None] | None = None,
    max_size: int | None = None,
    cache: int | None = None,
    **options: Unpack[FetchOptions],
) -> Fetch:
    """Describe a fetch by the default client; see `Client.fetch`."""
    return default_client().fetch(
        name,
        segments=segments,
        byte_range=byte_range,
        max_size=max_size,
        cache=cache,
        **options,
    )


def serve(
    prefix: str,
    content: Content,
    *,
    listen: str | list[str] | tuple[str, ...] = (),
    sign: str | None = None,
    freshness: float = 10.0,
    segment_size: int = 8_000,
    version: int | None = None,
    silent: bool = False,
) -> Server:
    """Serve content by the default client; see `Client.serve`."""
    return default_client().serve(
        prefix,
        content,
        listen=listen,
        sign=sign,
        freshness=freshness,
        segment_size=segment_size,
        version=version,
        silent=silent,
    )


async def serve_async(
    prefix: str,
    content: Content,
    *,
    listen: str | list[str] | tuple[str, ...] = (),
    sign: str | None = None,
    freshness: float = 10.0,
    segment_size: int = 8_000,
    version: int | None = None,
    silent: bool = False,
) -> Server:
    """Serve content by the default client; see `Client.serve_async`."""
    client = await asyncio.to_thread(default_client)
    return await client.serve_async(
        prefix,
        content,
        listen=listen,
        sign=sign,
        freshness=freshness,
        segment_size=segment_size,
        version=version,
        silent=silent,
    )
