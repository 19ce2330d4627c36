#!/usr/bin/env bash
# Pins requirements/*.in to requirements/*.txt: every version and hash, for CPython 3.10 and later, on any
# platform, and without the address of the index that answered. Run it after a change to an .in file:
#   scripts/lock.sh [NAME…] [--upgrade]
set -euo pipefail
cd "$(dirname "$0")/.."
uv=build/tools/uv-venv/bin/uv
if [ ! -x "$uv" ]; then
  python3 -m venv build/tools/uv-venv
  build/tools/uv-venv/bin/pip install --quiet 'uv==0.13.9'
fi
names=() options=()
for argument in "$@"; do
  case $argument in -*) options+=("$argument") ;; *) names+=("$argument") ;; esac
done
# run and test first: the others take their pins as constraints.
[ ${#names[@]} -gt 0 ] || names=(run test build lint docs service s3 ray cross dist peer-seal peer-tenseal peer-openfhe peer-lattigo peer-desilo peer-python310 eda eda-asic board board-sources data)
for name in "${names[@]}"; do
  oldest=3.10
  [ "$name" != peer-tenseal ] || oldest=3.11 # its wheels begin there
  extra=()
  case $name in eda-asic | board-sources | data | peer-lattigo) extra=(--no-deps) ;; esac # read for their data
  (cd requirements && "../$uv" pip compile --quiet --universal --python-version "$oldest" --generate-hashes \
    --no-emit-index-url --no-emit-find-links --no-annotate "${options[@]}" "${extra[@]}" \
    --custom-compile-command 'scripts/lock.sh' -o "$name.txt" "$name.in")
  echo "requirements/$name.txt: $(grep -c == "requirements/$name.txt") packages"
done
