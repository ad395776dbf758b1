#!/usr/bin/env python3
"""Writes the licences of all crates that the commands are linked with, and their bill of materials (CycloneDX 1.6).

    packaging/bill.py NOTICES BILL
"""
import json
import os
import pathlib
import subprocess
import sys
import time
import tomllib

OWN, FEATURES = ("recoup-cli", "recoup-lab-cli"), "recoup-cli/gateway"
LICENCES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
HEAD = """\
The commands recoup and recoup-lab are linked with the libraries below and with Rust's standard library
(MIT OR Apache-2.0, The Rust Project Developers); the static programs also with musl
(MIT, Rich Felker and others). SQLite, in libsqlite3-sys, is in the public domain.

"""


def cargo(*words):
    return subprocess.run(["cargo", *words, "--locked"], check=True, capture_output=True, text=True).stdout


def linked():
    """Name and version of each crate that a program is linked with."""
    for library in ("gnu", "musl"):
        tree = cargo(
            "tree", *(word for name in OWN for word in ("--package", name)), "--features", FEATURES,
            "--target", f"{os.uname().machine}-unknown-linux-{library}", "--edges", "normal,no-proc-macro", "--prefix", "none", "--format", "{p}",
        )
        for line in filter(None, tree.splitlines()):
            name, version = line.split()[:2]
            yield name, version.removeprefix("v")


metadata = json.loads(cargo("metadata", "--format-version=1", "--features", FEATURES))
packages = {(it["name"], it["version"]): it for it in metadata["packages"]}
lock = tomllib.loads(pathlib.Path("Cargo.lock").read_text())["package"]
sums = {(it["name"], it["version"]): it["checksum"] for it in lock if "checksum" in it}
crates = sorted(set(linked()))


def notices():
    """One text with the licences of all linked crates; a text that several have stands once."""
    rows, texts = [], {}
    for crate in crates:
        package = packages[crate]
        if package["source"] is None:
            continue
        rows.append(f"{' '.join(crate)}: {package['license'] or 'see its text'}\n")
        for path in sorted(pathlib.Path(package["manifest_path"]).parent.iterdir()):
            if path.is_file() and path.name.upper().startswith(LICENCES):
                text = path.read_text(errors="replace").replace("\r", "").strip()
                texts.setdefault(text, []).append(" ".join(crate))
    groups = sorted((owners, text) for text, owners in texts.items())
    return HEAD + "".join(rows) + "".join(f"\n{'=' * 80}\n{', '.join(owners)}\n\n{text}\n" for owners, text in groups)


def locator(crate):
    return f"pkg:cargo/{crate[0]}@{crate[1].replace('+', '%2B')}"


def component(crate):
    found = {"type": "library", "bom-ref": locator(crate), "name": crate[0], "version": crate[1], "purl": locator(crate)}
    if licence := packages[crate]["license"]:
        # Before SPDX expressions, a slash meant either of two.
        found["licenses"] = [{"expression": licence.replace("/", " OR ")}]
    if crate in sums:
        found["hashes"] = [{"alg": "SHA-256", "content": sums[crate]}]
    return found


def bill():
    own = next(crate for crate in crates if crate[0] == OWN[0])
    names = {it["id"]: (it["name"], it["version"]) for it in metadata["packages"]}
    nodes = {names[node["id"]]: [names[it] for it in node["dependencies"]] for node in metadata["resolve"]["nodes"]}
    date = time.gmtime(int(os.environ["SOURCE_DATE_EPOCH"]))
    uses = [{"ref": locator(it), "dependsOn": sorted(locator(to) for to in nodes[it] if to in crates)} for it in crates]
    return {
        "$schema": "http://cyclonedx.org/schema/bom-1.6.schema.json",
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", date),
            "component": component(own) | {"type": "application", "name": "recoup"},
        },
        "components": [component(it) for it in crates if it != own],
        "dependencies": uses,
    }


pathlib.Path(sys.argv[1]).write_text(notices())
pathlib.Path(sys.argv[2]).write_text(json.dumps(bill(), indent=2, ensure_ascii=False) + "\n")
