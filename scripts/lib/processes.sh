# shellcheck shell=bash
# Processes that outlive the shell that started them, told apart from strangers that got the same
# id later, and ended. Sourced, not run.

# A process id is reused; an id together with its start time (field 22 of its stat) is not.
# The name in field 2 may hold blanks and brackets, hence the cut at the last bracket.
start_time() {
    local stat fields
    { read -r stat <"/proc/$1/stat"; } 2>/dev/null || return 1
    read -ra fields <<<"${stat##*) }"
    # A zombie has ended; only its parent has not looked yet.
    [[ ${fields[0]} != Z ]] || return 1
    printf '%s\n' "${fields[19]}"
}

# alive PID START-TIME
alive() {
    [[ $(start_time "$1") == "$2" ]]
}

# Waits until PID has ended, or fails after SECONDS: wait_gone PID START-TIME SECONDS
wait_gone() {
    local polls=$(($3 * 10))
    while alive "$1" "$2"; do
        ((polls-- > 0)) || return 1
        sleep 0.1
    done
}

# A descriptor that a background process inherits keeps the caller's pipe, or our lock, open.
close_descriptors() {
    local path fd
    for path in "/proc/$BASHPID/fd/"*; do
        fd=${path##*/}
        if ((fd > 2)); then
            exec {fd}>&-
        fi
    done
}
