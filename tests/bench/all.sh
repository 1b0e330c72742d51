#!/usr/bin/env bash
# Measures every ratio in one run: ingest, outcome study, replay, fairness and detectors against other programs.
#
# usage: all.sh [RUNS]
#
#   RUNS            runs of each contender (default 3)
#   JOBFATE_PYTHON  a Python with duckdb, polars and simpy (default python3)
#
# Needs `cargo build --release --examples`. Missing programs (such as SimGrid) are left out, with a message.
# Output: Markdown on stdout. Compare programs by ratios within one run; do not compare runs.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python=${JOBFATE_PYTHON:-python3}
runs=${1:-3}
target=${CARGO_TARGET_DIR:-$here/../../target}/release
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

printf '## Ingest and outcome study\n\n'
"$python" "$here/run.py" --runs "$runs"
printf '\n## Logs of one file, against inflating them\n\n'
"$python" "$here/logs.py" --runs "$runs" || true
printf '\n## Replay\n\n'
"$python" "$here/replay.py" --runs "$runs" --python "$python"

"$target/jobfate" synth "$work/trace" --jobs 20000 --days 3 --parts 8 2>"$work/synth.log"
"$target/jobfate" ingest "$work/trace" --lake "$work/lake" 2>"$work/ingest.log"
printf '\n## Fairness, on a synthetic lake of 20,000 jobs\n\n'
"$python" "$here/fairness.py" "$work/lake" "$runs"
printf '\n## Straggler detectors, on the same lake\n\n'
"$python" "$here/detect.py" "$target/jobfate" "$work/lake" --runs "$runs"
