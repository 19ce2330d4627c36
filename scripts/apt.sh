#!/usr/bin/env bash
# apt.sh PACKAGE…: installs when this user may; otherwise prints the one command that would, and fails.
set -euo pipefail
apt=(apt-get -o Dpkg::Use-Pty=0 -o DPkg::Lock::Timeout=300 -qq)
if ! command -v apt-get >/dev/null; then
  echo "no apt-get here; install the equivalents of: $*" >&2
  exit 1
elif [ "$(id -u)" = 0 ]; then
  as_root=()
elif sudo -n true 2>/dev/null; then
  as_root=(sudo -n)
else
  echo "missing system packages; install them with: sudo apt-get install $*" >&2
  exit 1
fi
export DEBIAN_FRONTEND=noninteractive
echo "== system packages: $*"
"${as_root[@]}" "${apt[@]}" update
"${as_root[@]}" "${apt[@]}" install --no-install-recommends --yes "$@" >/dev/null
