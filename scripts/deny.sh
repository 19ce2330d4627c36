#!/usr/bin/env bash
# deny.sh CARGO-DENY    checks licences, bans and sources, and advisories where a copy of their database is stored; notes what was checked
# deny.sh --same        whether the dependencies and the rules are those that were checked last: the answer would be the same
set -euo pipefail
cd "$(dirname "$0")/.."
checked=scripts/deny.checked
digest=$(cat Cargo.lock deny.toml | sha256sum | cut -d ' ' -f 1)
if [ "$1" = --same ]; then
  [ "$(cat "$checked" 2>/dev/null)" = "$digest" ] || exit 1
  echo "Cargo.lock and deny.toml are as they were checked last; make deny checks them anew"
  exit 0
fi
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
echo "$digest" > "$checked"
