import gc
import os
from pathlib import Path

import fsspec
import pytest

import recoup

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture
def served(client, tmp_path):
    table = pyarrow.table({name: list(range(i, 200_000 + i)) for i, name in enumerate("abcd")})
    folder = tmp_path / "site"
    (folder / "more").mkdir(parents=True)
    parquet.write_table(table, folder / "data.parquet", row_group_size=50_000)
    (folder / "more" / "note.txt").write_text("a note\nof two lines\n")
    with client.serve("/site", folder):
        yield fsspec.filesystem("ndn", client=client, skip_instance_cache=True), folder


def test_ranges_and_text_are_read(served):
    files, folder = served
    whole = (folder / "data.parquet").read_bytes()
    assert files.cat_file("/site/data.parquet", 1000, 1100) == whole[1000:1100]
    assert files.cat_file("ndn:///site/data.parquet", -50) == whole[-50:]
    assert files.cat("/site/more/note.txt") == b"a note\nof two lines\n"
    with files.open("/site/more/note.txt", "rt") as file:
        assert file.readlines() == ["a note\n", "of two lines\n"]
    assert files.size("/site/data.parquet") == len(whole)
    with pytest.raises(FileNotFoundError):
        files.info("/site/none")
    with pytest.raises(ValueError, match="not written"):
        files.open("/site/new", "wb")


def test_time_of_the_last_change_is_known(served):
    files, folder = served
    changed = files.modified("ndn:///site/data.parquet")
    assert changed.timestamp() == pytest.approx((folder / "data.parquet").stat().st_mtime, abs=1e-3)
    with pytest.raises(FileNotFoundError):
        files.modified("/site/none")


def test_folders_are_listed(served):
    files, _ = served
    assert sorted(files.ls("/site", detail=False)) == ["/site/data.parquet", "/site/more"]
    assert files.isdir("/site/more")
    assert files.find("/site") == ["/site/data.parquet", "/site/more/note.txt"]
    assert files.ls("/site/more/note.txt")[0]["size"] == 20


def test_column_of_a_row_group_costs_few_segments(served, client):
    files, folder = served
    size = os.path.getsize(folder / "data.parquet")
    with client.fetch("/site/data.parquet").open() as file:
        group = parquet.ParquetFile(file).read_row_group(2, columns=["b"])
        assert group["b"].to_pylist()[:2] == [100_001, 100_002]
        assert file.raw.fetched_segments < size / 8_000 / 4
    with files.open("/site/data.parquet") as file:
        assert parquet.read_table(file, columns=["c"])["c"].to_pylist()[-1] == 200_001


def test_files_are_downloaded(served, tmp_path):
    files, folder = served
    files.get("/site/data.parquet", str(tmp_path / "copy"))
    assert (tmp_path / "copy").read_bytes() == (folder / "data.parquet").read_bytes()


def test_each_opening_finds_the_newest_version(client):
    files = fsspec.filesystem("ndn", client=client, skip_instance_cache=True)
    for version, content in [(1, b"first version"), (2, b"other version")]:
        with client.serve("/doc", content, version=version), files.open("/doc") as file:
            assert file.details["version"] != "/doc"
            assert file.read() == content


def test_child_process_connects_anew(served):
    files, _ = served
    assert files.cat("/site/more/note.txt")
    inherited = recoup.Client(alone=True)
    child = os.fork()
    if child == 0:
        # Nothing is served to the child, which has no forwarder; its own client says so.
        code = 1
        try:
            # The thread of an inherited client is not there: its end must not wait for it.
            del inherited
            gc.collect()
            own = recoup.Client(alone=True)
            with own.serve("/site", b"x"):
                other = fsspec.filesystem("ndn", client=own, skip_instance_cache=True)
                code = 0 if other.cat("/site") == b"x" else 2
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


#: Names that mean something else in a URI, in a path, in a pattern or in an encoding.
NAMES = [
    *(
        "a%41",
        "aA",
        "a%2541",
        "%",
        "%%",
        "%zz",
        "v=1",
        "v=",
        "t=5",
        "seg=0",
        "32=ls",
        "32=metadata",
        "8=foo",
        "=",
        "a=b",
    ),
    *(
        "...",
        "....",
        ". .",
        " ",
        "a b",
        "a+b",
        "a&b",
        "a#b",
        "a?b",
        "a*b",
        "a[1]",
        "[",
        "{x}",
        "ndn:",
        "ndn:a",
        "~",
        "-",
    ),
    *(
        "sha256digest=00",
        "params-sha256=",
        "\u00e9",
        "e\u0301",
        "\U0001f40c",
        "a\nb",
        "\\",
        "a\\b",
        ":",
        "a:b",
        "'",
        '"',
    ),
    *(os.fsdecode(b"\xff"), os.fsdecode(b"a\xfe=%41"), "x" * 200),
]


#: Folders inside each other.
INSIDE = ["year=2024", "a%41", "...", os.fsdecode(b"\xff")]


def every_name(folder):
    """Write a file of each name, and one in each of some folders inside each other; the content is the path."""
    (folder / Path(*INSIDE)).mkdir(parents=True)
    paths = [Path(name) for name in NAMES] + [Path(*INSIDE[:depth], "v=1") for depth in range(1, 5)]
    for path in paths:
        (folder / path).write_bytes(bytes(path))
    return [os.fspath(path) for path in paths]


def test_each_listed_path_is_that_of_its_file(client, tmp_path):
    paths = every_name(tmp_path / "odd")
    with client.serve("/odd", tmp_path / "odd"):
        files = fsspec.filesystem("ndn", client=client, skip_instance_cache=True)
        found = files.find("/odd")
        assert sorted(found) == sorted(f"/odd/{path}" for path in paths)
        urls = [files.unstrip_protocol(path) for path in found]
        for asked in [found, urls]:
            contents = files.cat_ranges(asked, [0] * len(asked), [1_000] * len(asked))
            assert [os.fsdecode(it) for it in contents] == [path.removeprefix("/odd/") for path in found]
        for path in ["/odd/a%41", "/odd/a*b", "/odd/a[1]", "/odd/v=1", "ndn:///odd/year=2024/v=1"]:
            assert b"/odd/" + files.cat(path) == os.fsencode(path.removeprefix("ndn://"))
            with files.open(path) as file:
                assert b"/odd/" + file.read() == os.fsencode(path.removeprefix("ndn://"))
        files.get("/odd", str(tmp_path / "copy"), recursive=True)
    copied = [path for path in (tmp_path / "copy").rglob("*") if path.is_file()]
    assert sorted(path.read_bytes() for path in copied) == sorted(map(os.fsencode, paths))
    assert all(bytes(path).endswith(path.read_bytes()) for path in copied)


def test_entries_of_a_folder_have_their_uris(client, tmp_path):
    every_name(tmp_path / "odd")
    with client.serve("/odd%2541", tmp_path / "odd"):
        entries = client.list_folder("/odd%2541/")
        assert sorted(entry.name for entry in entries) == sorted([*NAMES, INSIDE[0]])
        for entry in [it for it in entries if not it.is_folder][::4]:
            assert os.fsdecode(client.get(entry.uri)) == entry.name
        (folder,) = [entry for entry in entries if entry.is_folder]
        assert "v=1" in [entry.name for entry in client.list_folder(folder.uri)]
    with pytest.raises(recoup.UsageError, match="is no name"):
        client.list_folder("//")


def test_path_without_a_file_is_not_found(client, tmp_path):
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "aA").write_text("other")
    with client.serve("/site", tmp_path / "site"):
        files = fsspec.filesystem("ndn", client=client, skip_instance_cache=True)
        for path in ["/site/a%41", "/site/../site/aA", "/site/.", "/site/8=aA", "/site/v=1", "/site/%61A"]:
            with pytest.raises(FileNotFoundError):
                files.cat_file(path)
        assert files.cat("ndn:////site//aA/") == b"other"


def test_partitioned_data_set_is_read(client, tmp_path):
    table = pyarrow.table({"year": [2023, 2024, 2024], "kind": ["a=b", "50%", "x y"], "x": [1, 2, 3]})
    parquet.write_to_dataset(table, tmp_path / "sales", partition_cols=["year", "kind"])
    with client.serve("/site/sales", tmp_path / "sales"):
        files = fsspec.filesystem("ndn", client=client, skip_instance_cache=True)
        read = parquet.read_table("/site/sales", filesystem=files, filters=[("year", "==", 2024)])
        rows = sorted(zip(read["year"].to_pylist(), read["kind"].to_pylist(), read["x"].to_pylist(), strict=True))
    assert rows == [(2024, "50%", 2), (2024, "x y", 3)]


def test_listing_that_contains_itself_ends_the_walk(client, tmp_path):
    for name in ["again", "more"]:
        (tmp_path / "one" / name).mkdir(parents=True)
    with client.serve("/one", tmp_path / "one"):
        listing = client.get("/one/32=ls")

    class Looping:
        """A client of a producer that has the same listing at every name."""

        async def head_async(self, name):
            return recoup.ObjectInfo(name, None, None, None, None, is_folder=True)

        async def list_folder_async(self, name):
            return recoup._client._entries(name, listing)

    files = fsspec.filesystem("ndn", client=Looping(), skip_instance_cache=True)
    for walk in [
        lambda: files.find("/loop"),
        lambda: files.glob("/loop/**"),
        lambda: files.du("/loop"),
        lambda: files.expand_path("/loop", recursive=True),
        lambda: list(files.walk("/loop")),
        lambda: list(files.walk("/loop", topdown=False)),
    ]:
        with pytest.raises(recoup.ConditionError, match="may contain itself"):
            walk()
    assert len(files.find("/loop", maxdepth=3, withdirs=True)) == 1 + 2 + 4 + 8
