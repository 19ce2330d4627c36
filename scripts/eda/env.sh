# Use with:  . build/eda/env.sh     (bash; other shells: set EDA_HOME first)
if [ -n "${BASH_SOURCE:-}" ]; then EDA_HOME=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd); fi
export EDA_HOME
export PATH="$EDA_HOME/venv/bin:$PATH"
[ ! -f "$EDA_HOME/pdk/freepdk45/stdcells.lib" ] || export PDK_LIB="$EDA_HOME/pdk/freepdk45/stdcells.lib"
# WebAssembly tools keep their compiled form here (the first run of each is slow).
export XDG_CACHE_HOME="${XDG_CACHE_HOME:-$EDA_HOME/cache}"
