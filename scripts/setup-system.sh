#!/usr/bin/env bash
# setup-system.sh [LIST]: installs what LIST (scripts/system-packages.txt) names and this machine lacks.
set -euo pipefail
cd "$(dirname "$0")/.."
missing=()
while read -r package command _; do
  case $package in ''|'#'*) continue ;; esac
  if [ "$command" != - ]; then
    command -v "$command" >/dev/null || missing+=("$package")
  elif command -v dpkg-query >/dev/null; then
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  fi
done < "${1:-scripts/system-packages.txt}"
[ ${#missing[@]} -eq 0 ] || scripts/apt.sh "${missing[@]}"
