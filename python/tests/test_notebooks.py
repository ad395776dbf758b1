import json
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("agg")

pytestmark = pytest.mark.heavy

NOTEBOOKS = sorted((Path(__file__).parent.parent / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs_from_top_to_bottom(path):
    from matplotlib import pyplot

    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code
    names = {"__name__": "notebook"}
    for number, source in enumerate(code):
        exec(compile(source, f"{path.name}, cell {number}", "exec"), names)
    pyplot.close("all")
