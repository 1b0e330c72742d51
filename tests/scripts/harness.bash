# shellcheck shell=bash
# Shared by the tests of the scripts in data-scripts/: checks, and servers on 127.0.0.1. It is
# sourced, never run. It sets `work`, a folder that is removed at the end. A script that sources it
# ends with `report`.

# shellcheck disable=SC2034  # `port` is for the tests.

work=$(mktemp -d "${TMPDIR:-/tmp}/data-scripts-test.XXXXXX")
servers=()
passed=0
failed=0

cleanup() {
    local server
    for server in ${servers[@]+"${servers[@]}"}; do
        kill "$server" 2>/dev/null || true
        wait "$server" 2>/dev/null || true
    done
    rm -rf "$work"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

# The tests must not depend on a proxy or a curl configuration of the user.
unset http_proxy https_proxy all_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY
export CURL_HOME=$work LC_ALL=C

: >"$work/out"
: >"$work/err"
: >"$work/requests"
mkdir "$work/faults"

# --- Checks ---

pass() {
    passed=$((passed + 1))
}

fail() {
    failed=$((failed + 1))
    echo "FAILED $1"
    sed 's/^/    /' "$work/out" "$work/err"
}

# run NAME CODE COMMAND...: keeps stdout and stderr for the checks that follow.
run() {
    local name=$1 want=$2 code=0
    shift 2
    "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
    if ((code == want)); then
        pass
    else
        fail "$name: exit code $code, expected $want"
    fi
}

# holds NAME COMMAND...
holds() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        pass
    else
        fail "$name"
    fi
}

lacks() {
    local name=$1
    shift
    if "$@" >/dev/null 2>&1; then
        fail "$name"
    else
        pass
    fi
}

out_has() { holds "$1" grep -qF -- "$2" "$work/out"; }
err_has() { holds "$1" grep -qF -- "$2" "$work/err"; }
absent() { holds "$1" test ! -e "$2"; }

no_unfinished() {
    [[ -z $(find "$1" -name '*.part') ]]
}

report() {
    echo "$passed passed, $failed failed"
    ((failed == 0))
}

# --- Servers ---

# start_server NAME COMMAND...: starts a server that binds a free port and then prints a line with ` port NUMBER`, and
# puts the port into `port`. Only a whole line counts; the server listens before it prints the line, so no client
# connects too early.
start_server() {
    local name=$1 tries line
    shift
    : >"$work/$name.log"
    "$@" >>"$work/$name.log" 2>&1 </dev/null &
    servers+=("$!")
    for ((tries = 0; tries < 1200; tries++)); do
        while IFS= read -r line; do
            if [[ $line =~ \ port\ ([0-9]+) ]]; then
                port=${BASH_REMATCH[1]}
                return
            fi
        done <"$work/$name.log"
        kill -0 "${servers[${#servers[@]} - 1]}" 2>/dev/null || break
        sleep 0.05
    done
    echo "error: the server \`$name\` did not start" >&2
    cat "$work/$name.log" >&2
    exit 4
}

# start_range_server NAME ROOT: starts range_server.py for a folder.
start_range_server() {
    start_server "$1" python3 -u "${BASH_SOURCE[0]%/*}/range_server.py" "$2" "$work/faults" "$work/requests"
}

# fault PATH LINE...: sets the next answers for PATH.
fault() {
    mkdir -p "$work/faults/$(dirname "$1")"
    printf '%s\n' "${@:2}" >"$work/faults/$1"
}

# requests PATTERN: how many requests of the range server's log match.
requests() {
    grep -c -- "$1" "$work/requests" || true
}
