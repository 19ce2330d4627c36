#!/usr/bin/env bash
# deny.sh CARGO-DENY: licences, bans and sources always; advisories where a copy of the database is stored.
set -euo pipefail
cd "$(dirname "$0")/.."
deny=$1
checks=(licenses bans sources)
databases="${CARGO_HOME:-$HOME/.cargo}/advisory-dbs"
if compgen -G "$databases/*/.git" >/dev/null; then
  checks+=(advisories)
else
  echo "no stored advisory database: advisories not checked (CONTRIBUTING.md says how to store one)"
fi
# The first run fetches the index entries that the lock file names; afterwards nothing is asked for.
cargo fetch --quiet --locked
"$deny" --offline --workspace --locked --log-level error check "${checks[@]}"
