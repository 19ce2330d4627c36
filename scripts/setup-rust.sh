#!/usr/bin/env bash
# Makes sure that the toolchain of rust-toolchain.toml answers. rustup installs what is missing by itself.
set -euo pipefail
cd "$(dirname "$0")/.."
channel=$(sed -n 's/^channel = "\(.*\)"/\1/p' rust-toolchain.toml)
if ! command -v cargo >/dev/null; then
  cat >&2 <<MESSAGE
Rust is missing. This command installs its installer, rustup, for this user:
  curl --proto '=https' --tlsv1.2 -sSf https://sh.rustup.rs | sh -s -- -y --profile minimal
Then open a new shell and repeat.
MESSAGE
  exit 1
fi
if command -v rustup >/dev/null && ! rustup toolchain list | grep -q "^$channel"; then
  rustup toolchain install "$channel" --profile minimal --component rustfmt --component clippy
fi
version=$(rustc --version)
case $version in
  "rustc $channel "*) ;;
  *) echo "rust-toolchain.toml pins $channel, this machine answers \"$version\"; rustup would choose by that file" >&2
     exit 1 ;;
esac
if ! command -v cc >/dev/null; then
  echo "a C linker is missing: apt-get install gcc (or the system's equivalent)" >&2
  exit 1
fi
