# shellcheck shell=bash
# What every script here shares: where the project is, how to speak, where Debian hides wine.
# Sourced, not run; the sourcing script has set -euo pipefail.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build

# Standard output belongs to the result (a URI, a path), so everything said goes to standard error.
say() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die() {
    say "$*"
    exit 1
}

# Prints the comment at the top of the script that runs: the one place its usage is written.
usage() {
    sed -n '2,/^[^#]/{/^#/s/^# \{0,1\}//p}' "$0"
}

# Prints the first of the given commands or absolute paths that can be run.
first_command() {
    local candidate
    for candidate; do
        command -v -- "$candidate" && return
    done
    return 1
}

# The wine64 package alone, without the recommended launcher package, puts nothing on PATH.
find_wine() {
    first_command wine64 /usr/lib/wine/wine64 /usr/lib/*/wine/wine64 wine
}

find_wineserver() {
    first_command wineserver /usr/lib/wine/wineserver64 /usr/lib/wine/wineserver /usr/lib/*/wine/wineserver64 /usr/lib/*/wine/wineserver
}

# The server the user has, if any: $MONGOD, then PATH.
find_native_mongod() {
    first_command "${MONGOD:-mongod}"
}

find_native_mongos() {
    first_command "${MONGOS:-mongos}"
}
