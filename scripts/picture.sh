#!/usr/bin/env bash
# The picture of the report that the README shows: docs/img/report.png, from build/report/index.html.
set -euo pipefail
cd "$(dirname "$0")/.."
report=build/report/index.html
[ -f "$report" ] || { echo "no $report: make run"; exit 0; }
profile=$(mktemp -d)
trap 'rm -rf "$profile"' EXIT
sandbox=()
[ "$(id -u)" != 0 ] || sandbox=(--no-sandbox) # Chromium refuses its sandbox to root
chromium --headless "${sandbox[@]}" --disable-gpu --hide-scrollbars --user-data-dir="$profile" \
  --force-device-scale-factor=1 --window-size=1200,1500 --virtual-time-budget=3000 \
  --screenshot="$PWD/docs/img/report.png" "file://$PWD/$report" 2>/dev/null
echo docs/img/report.png
