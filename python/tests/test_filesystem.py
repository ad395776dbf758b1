import gc
import os

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
