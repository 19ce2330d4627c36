#!/usr/bin/env bash
# setup-python.sh VENV NAME…: an environment holding exactly requirements/NAME.txt, hashes checked.
set -euo pipefail
cd "$(dirname "$0")/.."
venv=$1; shift

python=""
for candidate in ${PYTHON:-} python3 python3.13 python3.12 python3.11 python3.10; do
  if command -v "$candidate" >/dev/null &&
     "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null; then
    python=$candidate; break
  fi
done
if [ -z "$python" ]; then
  echo "CPython 3.10 or later is missing: apt-get install python3 python3-venv; or name one with PYTHON=…" >&2
  exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
  scripts/apt.sh python3-venv || { echo "python3-venv is missing" >&2; exit 1; }
fi

[ -x "$venv/bin/python" ] && "$venv/bin/python" -c '' 2>/dev/null || "$python" -m venv --clear "$venv"
echo "== Python packages: $*"
files=()
for name in "$@"; do files+=(-r "requirements/$name.txt"); done
"$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: "${files[@]}"
