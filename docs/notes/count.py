#!/usr/bin/env python3
"""Counts the tree: lines by crate, public items, options, configuration keys, and places that spell an option.

    python3 docs/notes/count.py [COMMIT]        # HEAD without one

A line is code, a comment or blank; lines of test modules and of files in tests/ and benches/ count as tests, whatever they are.
Crates in lab/ and python/ are the laboratory, those in crates/ the product.
"""
import io
import re
import subprocess
import sys
import tarfile
from collections import defaultdict

commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
archive = subprocess.run(["git", "archive", commit], check=True, capture_output=True).stdout
files = {}
with tarfile.open(fileobj=io.BytesIO(archive)) as tree:
    for entry in tree:
        if entry.isfile() and entry.name.endswith((".rs", ".py", ".pyi", ".md", ".toml")):
            files[entry.name] = tree.extractfile(entry).read().decode("utf-8", "replace")


def crate(path):
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] in ("crates", "lab") else parts[0]


def is_test(path):
    return "/tests/" in path or path.endswith("/tests.rs") or "/benches/" in path


def kind(line, in_tests, is_python):
    """0: code, 1: a comment, 2: blank, 3: a test."""
    stripped = line.strip()
    return 3 if in_tests else 2 if not stripped else int(stripped.startswith("#" if is_python else "//"))


def without_tests(text):
    """The text without its test modules, which begin at `#[cfg(test)]` and end with a brace in the first column."""
    kept, in_tests = [], False
    for line in text.splitlines():
        in_tests = in_tests or line.startswith("#[cfg(test)]")
        if not in_tests:
            kept.append(line)
        if in_tests and line == "}":
            in_tests = False
    return "\n".join(kept)


PUBLIC = re.compile(r"\s*pub (?:const |async |unsafe )*(?:fn|struct|enum|trait|mod|type|static|const) |\s*pub const [A-Z]")
ATTRIBUTE = re.compile(r"\barg\(((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\((?:[^()\"]|\"(?:[^\"\\]|\\.)*\"|\([^()]*\))*\))*)\)")
KEY = re.compile(r"\.(?:value|required|field|table|list|named|default_table|keep|foreign)\(\s*\"([a-z0-9-]+)\"")

lines = defaultdict(lambda: [0, 0, 0, 0])
public, options, keys = defaultdict(int), 0, set()
for path, text in sorted(files.items()):
    is_python = path.endswith((".py", ".pyi"))
    if not (is_python or path.endswith(".rs")) or not path.startswith(("crates/", "lab/", "python/", "xtask/", "fuzz/")):
        continue
    counts, in_tests = lines[crate(path)], is_test(path)
    if not in_tests and "/examples/" not in path:
        options += sum("long" in re.findall(r"\blong\b", found) for found in ATTRIBUTE.findall(text))
        keys.update(KEY.findall(text) if re.search("(^|/)(lab|cli)/|scenario", path) else ())
    for line in text.splitlines():
        if line.startswith("#[cfg(test)]"):
            in_tests = True
        counts[kind(line, in_tests, is_python)] += 1
        if not (in_tests or is_python) and PUBLIC.match(line):
            public[crate(path)] += 1
        if in_tests and line == "}" and not is_test(path):
            in_tests = False

print(f"{commit}\n\n| crate | code | comments | tests | public items |\n|---|---:|---:|---:|---:|")
sums = {"product": [0] * 4, "laboratory": [0] * 4, "all": [0] * 4}
for name, (code, comments, _, tests) in sorted(lines.items()):
    print(f"| `{name}` | {code:,} | {comments:,} | {tests:,} | {public[name]:,} |")
    part = {"crates": "product", "lab": "laboratory", "python": "laboratory"}.get(name.split("/")[0])
    for of in filter(None, (part, "all")):
        sums[of] = [a + b for a, b in zip(sums[of], (code, comments, tests, public[name]))]
for of, numbers in sums.items():
    print("| {} | {:,} | {:,} | {:,} | {:,} |".format(of, *numbers))
spelled = [p for p, t in files.items() if p.endswith(".rs") and re.search(r"cancel[-_]on[-_]timeout", t)]
sources = [p for p in spelled if not is_test(p) and re.search(r"cancel[-_]on[-_]timeout", without_tests(files[p]))]
print(f"\noptions of the command: {options}; keys that readers name: {len(keys)}")
print(f"`cancel-on-timeout` is spelled in {len(spelled)} files of Rust, {len(sources)} of them no tests: {', '.join(sources)}")
