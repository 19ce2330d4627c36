#!/usr/bin/env bash
# deny.sh CARGO-DENY checks licences, bans and sources. Advisories too, where a copy of their database is stored.
# deny.sh --same says whether the answer would be that of the last check. With advisories nobody knows: they change by themselves.
set -euo pipefail
cd "$(dirname "$0")/.."
checked=scripts/deny.checked
digest=$(cat Cargo.lock deny.toml Cargo.toml crates/*/Cargo.toml | sha256sum | cut -d ' ' -f 1)
databases="${CARGO_HOME:-$HOME/.cargo}/advisory-dbs"
advisories=$(compgen -G "$databases/*/.git" || true)
if [ "$1" = --same ]; then
  [ -z "$advisories" ] && [ "$(cat "$checked" 2>/dev/null)" = "$digest" ] || exit 1
  echo "the crates and deny.toml are as they were checked last; make deny checks them anew"
  exit 0
fi
deny=$1
checks=(licenses bans sources)
if [ -n "$advisories" ]; then
  checks+=(advisories)
else
  echo "no stored advisory database: advisories not checked (CONTRIBUTING.md says how to store one)"
fi
# The first run fetches the index entries that the lock file names; afterwards nothing is asked for.
cargo fetch --quiet --locked
"$deny" --offline --workspace --locked --log-level error check "${checks[@]}"
echo "$digest" > "$checked"
