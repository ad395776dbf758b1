"""Ways in which the results of a class can change, for `test_identity.py`, and a process that sweeps with each of them.

Each way is the text of a module that has a number in it, what the class computes from that, and how a later statement
in the same module changes the number.
"""

import os
import sys
import types
from collections.abc import Iterator
from pathlib import Path

import recoup

CLASS = """
from recoup.algorithm import CongestionControl, register

class Grow({base}):
    spec_name = "grow-{way}"

    def __init__(self):
        MADE.append(self)
        self.window = 2.0
        self.by = float({step})

    def on_delivered(self, now, delivered):
        self.window += self.by / self.window

    def on_loss(self, now, loss):
        return False

register(Grow)
"""

#: By name: a part of the module, the number in the class, and the later statement if it is not that part.
WAYS = {
    "constant": ("STEP = {}", "STEP"),
    "helper": ("def helper():\n    return {}", "helper()"),
    "nested": (
        "def inner():\n    return {}\ndef helper():\n    return [inner() for _ in range(1)][0]",
        "helper()",
    ),
    "attribute": ("class Base(CongestionControl):\n    STEP = {}", "self.STEP", "Grow.STEP = {}"),
    "inherited": ("class Base(CongestionControl):\n    STEP = {}", "self.STEP", "Base.STEP = {}"),
    "method": ("class Base(CongestionControl):\n    def step(self):\n        return {}", "self.step()"),
    "property": ("class Base(CongestionControl):\n    step = property(lambda self: {})", "self.step"),
    "closure": ("def make(step):\n    return lambda: step\nclosure = make({})", "closure()"),
    "default": ("def helper(step={}):\n    return step", "helper()"),
    "keyword": ("def helper(*, step={}):\n    return step", "helper()"),
    "decorator": ("def times(f):\n    return lambda: f() * {}\n@times\ndef helper():\n    return 1", "helper()"),
    "cached": ("import functools\n@functools.lru_cache\ndef helper():\n    return {}", "helper()"),
    "partial": ("import functools\nSTEP = functools.partial(float, {})", "STEP()"),
    "lambda": ("STEP = lambda: {}", "STEP()"),
    "container": ("STEP = {{'steps': ({{'step': [{}]}},)}}", "STEP['steps'][0]['step'][0]"),
    "set": ("STEP = {{{}}}", "min(STEP)"),
    "array": ("import array\nSTEP = array.array('d', [{}])", "STEP[0]", "STEP[0] = {}"),
    "numpy": ("import numpy\nSTEP = numpy.array([{}])", "STEP[0]", "STEP[0] = {}"),
    "object": ("class Box:\n    pass\nBOX = Box()\nBOX.step = {}", "BOX.step", "BOX.step = {}"),
    "slots": ("class Box:\n    __slots__ = ['step']\nBOX = Box()\nBOX.step = {}", "BOX.step", "BOX.step = {}"),
    "bound": ("class Box:\n    def get(self):\n        return {}\nGET = Box().get", "GET()"),
    "module": ("import grow_part\ngrow_part.STEP = {}", "grow_part.STEP"),
    "imported-late": ("import grow_part\ngrow_part.OTHER = {}", "__import__('grow_part').OTHER"),
    "import-inside": (
        "def helper():\n    import grow_part\n    return grow_part.THIRD\nimport grow_part\ngrow_part.THIRD = {}",
        "helper()",
    ),
    "by-text": ("STEP = {}", "globals()['ST' + 'EP']"),
    "file": ("import pathlib\npathlib.Path(FILE).write_text('{}')", "__import__('pathlib').Path(FILE).read_text()"),
    "environment": ("import os\nos.environ['GROW_STEP'] = '{}'", "os.environ['GROW_STEP']"),
    "redefined-class": ("class Base(CongestionControl):\n    step = {}", "self.step"),
}

NETWORK = {
    "seeds": "1..4",
    "topology": {"kind": "line", "nodes": 2},
    "link": {"rate": "10 Mbit/s", "delay": "5 ms"},
    "applications": {
        "c1": {"kind": "fetch", "node": "n1", "object": "/file"},
        "p1": {"kind": "serve", "node": "n2", "prefix": "/file", "size": "100 kB"},
    },
}


def module_of(way: str, number: float, folder: Path) -> types.ModuleType:
    """Return the module of a way with a number in it, as a notebook has it."""
    module = types.ModuleType(f"grow_{way.replace('-', '_')}")
    sys.modules[module.__name__] = module
    sys.modules.setdefault("grow_part", types.ModuleType("grow_part"))
    vars(module).update(FILE=str(folder / f"{way}.txt"), MADE=[])
    exec("from recoup.algorithm import CongestionControl", vars(module))
    part, step, *_ = WAYS[way]
    exec(part.format(number), vars(module))
    base = "Base" if "class Base" in part else "CongestionControl"
    exec(CLASS.format(base=base, way=way, step=step), vars(module))
    return module


def change(module: types.ModuleType, way: str, number: float) -> None:
    """Give the way another number, as a later cell of a notebook does."""
    part, step, *later = WAYS[way]
    exec((later[0] if later else part).format(number), vars(module))
    if "class Base" in part and not later:
        exec(CLASS.format(base="Base", way=way, step=step), vars(module))


def scenario_of(way: str) -> recoup.Scenario:
    return recoup.Scenario.from_dict({**NETWORK, "fetch": {"congestion": f"grow-{way}"}})


def outcome(way: str, folder: Path, scenario: recoup.Scenario | None = None) -> str:
    """Tell whether a sweep has what the class computes now."""
    scenario = scenario or scenario_of(way)
    try:
        kept = recoup.sweep(scenario, folder / way).digests
    except recoup.LocalError as error:
        return f"error: {error}"
    return "new" if kept == scenario.run().digests else "OLD"


def outcomes(number: float, folder: Path) -> Iterator[str]:
    """Sweep in all ways."""
    for way in WAYS:
        module = module_of(way, number, folder)
        told = outcome(way, folder)
        made = len(module.MADE)
        recoup.sweep(scenario_of(way), folder / way, fresh=told.startswith("error"))
        yield f"{way}\t{len(module.MADE) - made}\t{made}\t{told}"


if __name__ == "__main__":
    os.chdir(sys.argv[2])
    for line in outcomes(float(sys.argv[1]), Path(sys.argv[2])):
        print(line)
