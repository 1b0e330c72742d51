#!/usr/bin/env bash
# A small standalone Spark cluster on 127.0.0.1: one master and two workers of one core and 1 GB
# each, all as separate processes.
#
# usage: cluster.sh start DIR        start it, wait for both workers, print the
#                                    master's URL
#        cluster.sh kill-worker DIR  kill -9 a worker and its executors
#        cluster.sh stop DIR         stop all its remaining processes
#
# DIR keeps the logs (master.log, worker-1.log, worker-2.log), the workers' folders and the process
# ids. Ports are any free ones.
#
# Environment:
#   SPARK_HOME      where Spark is      (default: that of pyspark, if the Python
#                                        below can import it)
#   JOBFATE_PYTHON  a Python            (default python3)
#   JAVA_HOME       a Java for Spark    (default: the `java` in the path)
#
# Output: the URL on stdout, everything else on stderr.
# Exit codes: 0 done, 2 wrong use, 4 no Spark, or the cluster did not start.
set -euo pipefail

here=$(CDPATH='' cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source-path=SCRIPTDIR source=../../data-scripts/common.bash
source "$here/../../data-scripts/common.bash"

readonly WORKERS=(worker-1 worker-2)
readonly START_MAX_S=60
readonly STOP_MAX_S=10

main() {
    if [[ ${1-} == --help || ${1-} == -h ]]; then
        usage
    fi
    (($# == 2)) || wrong_use "a command and a DIR are needed"
    [[ -n $2 ]] || wrong_use "DIR is empty"
    case $1 in
    start) start "$2" ;;
    kill-worker) kill_worker "$2" ;;
    stop) stop "$2" ;;
    *) wrong_use "there is no command \`$1\`" ;;
    esac
}

start() {
    local url name
    mkdir -p "$1"
    dir=$(CDPATH='' cd "$1" && pwd)
    for name in master "${WORKERS[@]}"; do
        ! is_running "$name" || die 4 "a cluster runs in \`$dir\` already"
        rm -f "$dir/$name.pid" "$dir/$name.log"
    done
    find_spark
    trap 'stop "$dir"' EXIT
    trap 'exit 130' INT TERM
    spawn master org.apache.spark.deploy.master.Master --port 0
    wait_for master 'Starting Spark master at spark://'
    url=$(sed -n 's/.*Starting Spark master at \(spark:[^ ]*\).*/\1/p' "$dir/master.log")
    for name in "${WORKERS[@]}"; do
        spawn "$name" org.apache.spark.deploy.worker.Worker --port 0 --cores 1 --memory 1g \
            --work-dir "$dir/$name" "$url"
    done
    for name in "${WORKERS[@]}"; do
        wait_for "$name" 'Successfully registered with master'
    done
    trap - EXIT
    echo "$url"
}

find_spark() {
    local python=${JOBFATE_PYTHON:-python3}
    if [[ -z ${SPARK_HOME-} ]]; then
        SPARK_HOME=$("$python" -c 'import os, pyspark; print(os.path.dirname(pyspark.__file__))' 2>/dev/null) ||
            die 4 "Spark is not there: \`SPARK_HOME\` is not set, and \`$python\` cannot import pyspark"
    fi
    [[ -x $SPARK_HOME/bin/spark-class ]] || die 4 "\`$SPARK_HOME\` holds no Spark (no bin/spark-class)"
    export SPARK_HOME
}

# spawn NAME CLASS ARG...: starts a part of the cluster as the leader of a group of processes. The
# executors of a worker also belong to the group. Settings of the installed Spark do not apply,
# because the log must be the default one.
spawn() {
    local name=$1
    shift
    mkdir -p "$dir/conf" "$dir/scratch"
    set -m
    SPARK_CONF_DIR=$dir/conf SPARK_LOCAL_DIRS=$dir/scratch SPARK_LOCAL_IP=127.0.0.1 SPARK_DAEMON_MEMORY=512m \
        "$SPARK_HOME/bin/spark-class" "$1" --host 127.0.0.1 --webui-port 0 "${@:2}" \
        >"$dir/$name.log" 2>&1 </dev/null &
    echo $! >"$dir/$name.pid"
    set +m
}

# wait_for NAME TEXT: waits until the log has the text. The process is a child of this script, so
# its process id is not reused.
wait_for() {
    local deadline=$((SECONDS + START_MAX_S))
    until grep -qsF "$2" "$dir/$1.log"; do
        if ((SECONDS > deadline)) || ! kill -0 "$(cat "$dir/$1.pid")" 2>/dev/null; then
            tail -n 20 "$dir/$1.log" >&2
            die 4 "the $1 did not start"
        fi
        sleep 0.2
    done
}

# Whether a process of the group is alive. A process id that the system has given to another program
# in the meantime does not count.
is_running() {
    [[ -f $dir/$1.pid ]] &&
        ps -A -o pgid= -o stat= -o command= |
        awk -v group="$(cat "$dir/$1.pid")" '
                $1 == group && $2 !~ /^Z/ && /org\.apache\.spark/ { found = 1 } END { exit !found }'
}

# signal NAME SIGNAL: sends a signal to the whole group. The group may have ended.
signal() {
    kill -s "$2" -- "-$(cat "$dir/$1.pid")" 2>/dev/null || true
}

kill_worker() {
    local name
    dir=$1
    for name in "${WORKERS[@]}"; do
        if is_running "$name"; then
            signal "$name" KILL
            say "killed $name and its executors"
            return
        fi
    done
    die 4 "no worker runs in \`$dir\`"
}

stop() {
    local name deadline
    dir=$1
    for name in "${WORKERS[@]}" master; do
        if is_running "$name"; then
            signal "$name" TERM
        fi
    done
    deadline=$((SECONDS + STOP_MAX_S))
    for name in "${WORKERS[@]}" master; do
        while is_running "$name"; do
            if ((SECONDS > deadline)); then
                signal "$name" KILL
            fi
            sleep 0.1
        done
        rm -f "$dir/$name.pid"
    done
}

main "$@"
