# The keeper of one cluster: it starts the nodes and ends them with the last user.
#
#   sh -c <this> keeper DIR JAVA
#
# Its stdin is the pipe DIR/users. Each user holds that open for writing for as long as it lives, so that
# the end of input is the end of all users, however they ended. A line is a request:
#
#   start NODE    start node<NODE> unless it runs
#   hello TOKEN   answer with the file acks/TOKEN
#   watch PID     count that process as a user
#   hold          go on without users
#   end           end now
dir=$1 java=$2
cd "$dir" || exit 1
# A Ctrl-C is for the user; its end is seen by the pipe.
trap '' INT HUP QUIT
trap 'end; exit' TERM

# Is the process named by the pid file of node $1 really that node? A pid is recycled some day.
runs() {
    pid=$(cat "$1/pid" 2>/dev/null) && [ -n "$pid" ] || return 1
    if [ -d /proc/self ]; then
        tr '\0' ' ' 2>/dev/null <"/proc/$pid/cmdline"
    else
        ps -ww -o command= -p "$pid"
    fi 2>/dev/null | grep -qF "@$dir/$1/java.args"
}

# The node writes its own pid and then becomes Java: whoever sees the pid sees the right command line.
start() {
    runs "$1" && return
    rm -f "$1/pid"
    (
        cd "$1" || exit 1
        MALLOC_ARENA_MAX=2 exec sh -c 'echo $$ >pid.new && mv pid.new pid && exec "$0" "$1"' \
            "$java" "@$dir/$1/java.args"
    ) </dev/null >>"$1/logs/stdout.log" 2>&1 3>&- &
    polls=0
    while [ ! -f "$1/pid" ] && [ $polls -lt 200 ]; do
        sleep 0.05
        polls=$((polls + 1))
    done
}

watch() {
    case " $watched " in *" $1 "*) return ;; esac
    watched="$watched $1"
    # Opened here and not in the child, so that it is open before the request is answered.
    exec 4>users
    (
        exec </dev/null
        while kill -0 "$1" && kill -0 $$; do sleep 0.5; done
    ) 2>/dev/null &
    exec 4>&-
}

any_is_left() {
    for pid in $killed; do
        kill -0 "$pid" 2>/dev/null && return
    done
    return 1
}

end() {
    killed=
    for file in node*/pid; do
        runs "${file%/pid}" && kill -9 "$pid" && killed="$killed $pid"
    done
    # By pid: a process that ends loses its command line before it frees its ports.
    polls=0
    while any_is_left && [ $polls -lt 200 ]; do
        sleep 0.05
        polls=$((polls + 1))
    done
    # The name is free at once, and nobody sees half a cluster.
    mv "$dir" "$dir.ended.$$" && cd / && rm -rf "$dir.ended.$$"
}

watched=
while read -r request argument; do
    case $request in
    start) start "node$argument" ;;
    hello) : >"acks/$argument" ;;
    watch) watch "$argument" ;;
    hold) exec 3>users ;;
    end) break ;;
    esac
done
end
