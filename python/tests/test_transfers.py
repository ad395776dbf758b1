import asyncio
import os
import signal
import threading
import time

import pytest

import recoup

CONTENT = os.urandom(100_000)


def test_content_arrives_in_memory_in_a_file_and_piece_by_piece(client, tmp_path):
    with client.serve("/data", CONTENT) as server:
        assert server.name.startswith("/data/")
        assert client.get("/data") == CONTENT
        assert b"".join(client.fetch("/data")) == CONTENT
        summary = client.fetch("/data").to_file(tmp_path / "file")
        assert (tmp_path / "file").read_bytes() == CONTENT
        assert summary["segments"] == 13
        assert client.fetch("/data", byte_range=(10, 20)).to_bytes() == CONTENT[10:20]
        assert server.summary()["segments"] >= 13 * 3
        info = client.head("/data")
        assert (info.size, info.segment_size, info.last_segment) == (100_000, 8_000, 12)
    assert server.summary() is None
    with pytest.raises(recoup.NotFoundError) as caught:
        client.get("/data")
    assert caught.value.exit_code == 3
    assert caught.value.remedy


def test_file_object_fetches_only_what_is_read(client):
    with client.serve("/data", CONTENT), client.fetch("/data").open() as file:
        assert file.seek(-100, os.SEEK_END) == len(CONTENT) - 100
        assert file.read() == CONTENT[-100:]
        file.seek(50_000)
        assert file.read(10) == CONTENT[50_000:50_010]
        assert file.raw.fetched_segments <= 6
        with pytest.raises(ValueError, match="seek"):
            file.raw.seek(-1)


def test_files_folders_and_functions_are_served(client, tmp_path):
    (tmp_path / "a.txt").write_bytes(b"first")
    with client.serve("/one", tmp_path / "a.txt"):
        assert client.get("/one") == b"first"
    with client.serve("/folder", str(tmp_path)):
        assert client.get("/folder/a.txt") == b"first"
    with client.serve("/sensor", lambda name: b"21.5" if name.endswith("t") else None):
        assert client.get_packet("/sensor/t") == b"21.5"
        with pytest.raises(recoup.NotFoundError):
            client.get_packet("/sensor/x")
        assert client.ping("/sensor/t") < 5


def test_asynchronous_operations_yield_the_same(client, tmp_path):
    async def all_of_them():
        async with await client.serve_async("/data", CONTENT):
            assert await client.get_async("/data") == CONTENT
            pieces = [piece async for piece in client.fetch("/data")]
            assert b"".join(pieces) == CONTENT
            await client.fetch("/data").to_file_async(tmp_path / "file")
            assert (tmp_path / "file").read_bytes() == CONTENT
            several = await asyncio.gather(*(client.get_async("/data") for _ in range(5)))
            assert several == [CONTENT] * 5
            return (await client.head_async("/data")).size

    assert asyncio.run(all_of_them()) == len(CONTENT)


def test_cancelled_task_cancels_the_fetch(client):
    async def cancelled():
        # Nobody answers: the fetch would wait for a minute.
        async with await client.serve_async("/silent", lambda name: None, silent=True):
            task = asyncio.create_task(client.get_async("/silent", discover=False))
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    begun = time.monotonic()
    asyncio.run(cancelled())
    assert time.monotonic() - begun < 10


def test_signal_ends_a_wait(client):
    # A shell starts commands in the background with this signal ignored.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with client.serve("/silent", lambda name: None, silent=True):
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        begun = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            client.get("/silent", discover=False)
        assert time.monotonic() - begun < 10
        timer.join()


def test_interpreter_runs_while_a_fetch_waits(client):
    with client.serve("/silent", lambda name: None, silent=True):
        failed = []

        def wait():
            try:
                client.get("/silent", discover=False, no_progress="1s", retries=0)
            except recoup.TimedOutError as error:
                failed.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        counted = 0
        while thread.is_alive():
            time.sleep(0.001)
            counted += 1
        assert failed
        assert counted > 50


def test_progress_is_reported(client):
    seen = []
    with client.serve("/data", CONTENT):
        client.get("/data", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (len(CONTENT), len(CONTENT))


def test_wrong_arguments_are_usage_errors(client):
    with pytest.raises(recoup.UsageError, match="cubicc"):
        client.get("/data", congestion="cubicc")
    with pytest.raises(recoup.UsageError, match="unknown field"):
        client.get("/data", colour="red")
    with pytest.raises(recoup.UsageError):
        recoup.Client("nowhere://")
    with pytest.raises(recoup.ConditionError), client.serve("/data", CONTENT):
        client.get("/data", max_size=10)


def test_child_process_gets_a_client_of_its_own():
    client = recoup.Client(alone=True)
    with client.serve("/data", CONTENT):
        assert client.get("/data") == CONTENT
        child = os.fork()
        if child == 0:
            own = recoup.Client(alone=True)
            with own.serve("/other", b"x"):
                os._exit(0 if own.get("/other") == b"x" else 1)
        _, status = os.waitpid(child, 0)
        assert status == 0
        assert client.get("/data") == CONTENT
