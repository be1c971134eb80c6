# shellcheck shell=bash
# A replica set of servers of lib/server.sh. Sourced, not run.

readonly start_timeout=180

# start_replica_set RUN NODES OPTION...: returns when there is a primary and all others are
# secondaries; leaves the URI in RUN/uri.
start_replica_set() {
    local run=$1 nodes=$2 set deadline=$((SECONDS + start_timeout)) i
    shift 2
    # Unique, so that a node can never join, nor a test reach, the set of another run by mistake.
    set=mbp-$$-$RANDOM
    local options=(
        --replSet "$set" --oplogSize 64 --wiredTigerCacheSizeGB 0.25
        --setParameter enableTestCommands=1
        # Needs counters of Windows that wine does not have, and tests don't read it.
        --setParameter diagnosticDataCollectionEnabled=false
        "$@"
    )

    say "starting $nodes node(s)"
    for ((i = 1; i <= nodes; i++)); do
        launch "$run" "node$i" "$(free_port)" "$mongod" "${options[@]}"
    done
    for ((i = 1; i <= nodes; i++)); do
        await_node "$run" "node$i" "$deadline" "$mongod" "${options[@]}"
    done
    initiate "$run" "$set" "$nodes"
    await_members "$run" "$nodes" "$deadline"
    printf 'mongodb://%s/?replicaSet=%s\n' "$(hosts "$run" "$nodes")" "$set" >"$run/uri"
}

# Another program may take the port between the look and the bind; then another port is tried.
await_node() {
    local run=$1 name=$2 deadline=$3 tries=1
    shift 3
    until wait_listening "$run" "$name" "$deadline"; do
        ((tries++ < 5)) || start_failed "$run" "$name" "no port could be had in five tries"
        launch "$run" "$name" "$(free_port)" "$@"
    done
}

hosts() {
    local i list=
    for ((i = 1; i <= $2; i++)); do
        list+=,127.0.0.1:$(server_field "$1" "node$i" port)
    done
    printf '%s\n' "${list#,}"
}

initiate() {
    local run=$1 set=$2 nodes=$3 members='' i
    for ((i = 1; i <= nodes; i++)); do
        members+=", {\"_id\": $i, \"host\": \"127.0.0.1:$(server_field "$run" "node$i" port)\"}"
    done
    admin "$(server_field "$run" node1 port)" \
        "{\"replSetInitiate\": {\"_id\": \"$set\", \"members\": [${members#, }]}}" >"$run/initiate.json" ||
        start_failed "$run" node1 "the replica set could not be initiated"
}

await_members() {
    local run=$1 nodes=$2 deadline=$3 port reply
    port=$(server_field "$run" node1 port)
    until reply=$(admin "$port" '{"hello": 1}' 2>/dev/null) && [[ $reply == *'"isWritablePrimary" : true'* ]]; do
        ((SECONDS < deadline)) || start_failed "$run" node1 "no primary after $start_timeout s"
        # Without it, the first election waits for its timeout of ten seconds.
        admin "$port" '{"replSetStepUp": 1, "skipDryRun": true}' >/dev/null 2>&1 || true
        sleep 0.2
    done
    until reply=$(admin "$port" '{"replSetGetStatus": 1}' 2>/dev/null) &&
        (($(grep -o '"stateStr" : "SECONDARY"' <<<"$reply" | wc -l) == nodes - 1)); do
        ((SECONDS < deadline)) || start_failed "$run" node1 "not all members are secondaries after $start_timeout s"
        sleep 0.2
    done
}
