#!/usr/bin/env bash
# aarch64.sh DIR: tools that build for AArch64 on x86-64 and run what they built, unpacked from packages of Debian 12
# into DIR; nothing is installed. `. DIR/env.sh` then lets cargo build and run with --target aarch64-unknown-linux-gnu.
# The linker and C compiler are those of PYTHON -m ziglang (requirements/dist.txt), for glibc 2.17 and later.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "$1"
dir=$(cd "$1" && pwd)
if [ "$(uname -m)" != x86_64 ] || ! command -v apt-get dpkg-deb >/dev/null; then
  echo "AArch64 is built on Debian 12 for x86-64; on AArch64 itself build without these tools" >&2
  exit 1
fi

# Lists and downloads of apt's own, so that the system keeps its architectures.
mkdir -p "$dir"/apt/{lists,cache/archives}/partial "$dir"/{apt/packages,root,bin}
apt=(apt-get -qq -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 -o APT::Sandbox::User=root
  -o "Dir::State::lists=$dir/apt/lists" -o "Dir::Cache=$dir/apt/cache")
echo "== packages for AArch64, unpacked in $1"
"${apt[@]}" update
rm -f "$dir"/apt/packages/*.deb
(cd "$dir/apt/packages" && grep -v '^#' "$OLDPWD/scripts/aarch64/packages.txt" | xargs "${apt[@]}" download)
for package in "$dir"/apt/packages/*.deb; do dpkg-deb -x "$package" "$dir/root"; done
rm -rf "$dir/apt"

tool() { cat > "$dir/bin/$1"; chmod +x "$dir/bin/$1"; }
libraries=$dir/root/usr/lib/x86_64-linux-gnu:$dir/root/lib/x86_64-linux-gnu
python=$(cd "$(dirname "${PYTHON:-.venv/bin/python}")" && pwd)/$(basename "${PYTHON:-.venv/bin/python}")
tool rustc <<END
#!/bin/sh
LD_LIBRARY_PATH='$libraries' exec '$dir/root/usr/bin/rustc' "\$@"
END
tool qemu-aarch64 <<END
#!/bin/sh
LD_LIBRARY_PATH='$libraries' exec '$dir/root/usr/bin/qemu-aarch64' -E LD_LIBRARY_PATH= -L '$dir/root' "\$@"
END
# The crate cc names the target as zig does not; the option before its arguments says it.
tool aarch64-cc <<END
#!/bin/bash
for argument; do shift; case \$argument in --target=*) ;; *) set -- "\$@" "\$argument" ;; esac; done
exec '$python' -m ziglang cc -target aarch64-linux-gnu.2.17 "\$@"
END
tool aarch64-ar <<END
#!/bin/sh
exec '$python' -m ziglang ar "\$@"
END
tool aarch64-python <<END
#!/bin/sh
exec '$dir/bin/qemu-aarch64' '$dir/root/usr/bin/python3.11' "\$@"
END
cc -O2 -Wall -Wextra -shared -fPIC -o "$dir/count.so" scripts/aarch64/count.c
cat > "$dir/env.sh" <<END
export RUSTC='$dir/bin/rustc' AARCH64='$dir'
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER='$dir/bin/aarch64-cc'
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='$dir/bin/qemu-aarch64'
export CC_aarch64_unknown_linux_gnu='$dir/bin/aarch64-cc' AR_aarch64_unknown_linux_gnu='$dir/bin/aarch64-ar'
# Another compiler than rustup's: what it builds stays apart.
export CARGO_TARGET_DIR='$dir/target'
END
"$dir/bin/rustc" --version
"$dir/bin/qemu-aarch64" --version | head -1
