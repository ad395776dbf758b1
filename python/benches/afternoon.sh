#!/bin/sh
# From nothing to a figure: a virtual environment, the wheel, a sweep, a figure with intervals. Prints how long each step takes.
#
# benches/afternoon.sh WHEEL
set -eu
wheel=$(realpath "$1")
script=$(realpath "$(dirname "$0")/afternoon.py")
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"

step() {
    begun=$(date +%s.%N)
    "$@"
    echo "$(echo "$(date +%s.%N) - $begun" | bc | cut -c1-5) s: $*" | sed "s|$folder/||g; s|$(dirname "$wheel")/||; s|$(dirname "$script")/||"
}

step python3 -m venv env
step env/bin/python -m pip install --quiet --disable-pip-version-check "$wheel[plot]"
step env/bin/recoup demo --size 500kB --quiet
step env/bin/python "$script" figure.svg
ls -l figure.svg afternoon-results/runs.csv
