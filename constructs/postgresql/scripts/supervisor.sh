#!/usr/bin/env bash
# PID 1 of the postgres container. Patroni that dies is started again at once, while PostgreSQL keeps running and is adopted: the kubelet's
# back-off of 10 to 300 s never comes into it.
set -uo pipefail

# First of all: a signal for which the first process of a container has no handler is lost, and the pod would end only when its time of grace is over.
child=
stopping=
# shellcheck disable=SC2317 # called by the trap
stop() {
  stopping=yes
  if [[ -n $child ]]; then kill -TERM "$child" 2>/dev/null; fi
}
trap stop TERM INT QUIT

umask 077
scripts=$(dirname "$0")
run=${PLUMBLINE_RUN:-/run/plumbline}
secrets=${PLUMBLINE_SECRETS:-/etc/plumbline-secrets}
data=${PLUMBLINE_DATA:-/data/pgdata}
socket=${PLUMBLINE_SOCKET:-/run/postgresql}
export PLUMBLINE_LOCK=

# What the image sets for its own entry point is no configuration of ours.
for name in "${!PG@}" "${!PATRONI_@}"; do unset "$name"; done
# Where libpq finds the passwords of the system: in Patroni, in pg_basebackup, in pg_rewind and in the server's receiver of WAL.
export PGPASSFILE=$run/pgpass

# Waits for the child, also when a signal comes in between; one that came before it was known who the child is has reached nobody.
finish() {
  local code=0
  # Not at once: what has just been forked may still have the handler from here.
  if [[ -n $stopping ]]; then sleep 0.5 && stop; fi
  while :; do
    wait "$child" 2>/dev/null
    code=$?
    kill -0 "$child" 2>/dev/null || break
  done
  child=
  return "$code"
}

# The kubelet swaps a link when a mounted Secret has changed.
versions() {
  readlink "$secrets/system/..data" "$secrets/tls/..data"
}

# Passwords and a certificate that changed since a version reach Patroni and PostgreSQL without a restart.
watch_secrets() {
  local seen=$2 now
  while sleep 2; do
    now=$(versions)
    if [[ $now != "$seen" ]] && python3 -B "$scripts/start_gate.py" compose; then
      seen=$now
      kill -HUP "$1" 2>/dev/null
    fi
  done
}

postmaster() {
  local pid
  { read -r pid <"$data/postmaster.pid" && [[ $(<"/proc/$pid/comm") == postgres* ]]; } 2>/dev/null && echo "$pid"
}

# Patroni looks for PostgreSQL once in its loop; of a server that died it is told at once. Waiting on a pipe that nobody writes to starts no process.
watch_server() {
  local server='' pause=1 silence
  exec {silence}<> <(:)
  while :; do
    read -rt "$pause" -u "$silence"
    if [[ -z $server ]]; then
      server=$(postmaster) && pause=0.25
    elif ! kill -0 "$server" 2>/dev/null; then
      server='' pause=1
      python3 -B "$scripts/wake.py"
    fi
  done
}

watch_server &
sentinel=$!

# Nothing runs yet where this is the first process.
fresh=$(($$ == 1))
failures=0
pauses=(0 0 0.5 1 2 3)
while [[ -z $stopping ]]; do
  mounted=$(versions)
  # Taken by the start gate, and held for as long as this process lives: see lock.py.
  if [[ -z $PLUMBLINE_LOCK ]]; then { exec {PLUMBLINE_LOCK}>>"$(dirname "$data")/.plumbline-lock"; } 2>/dev/null; fi
  # A server that runs was let in before; then nothing is asked, so that Patroni is back soon, and also while the API server is away.
  if ((!fresh)) && postmaster >/dev/null; then gate=compose; else gate=start; fi
  python3 -B "$scripts/start_gate.py" "$gate" &
  child=$!
  finish
  code=$?
  # The pod is deleted; the signal that said so came before the handler.
  ((code == 3)) && stopping=yes
  if ((code == 0)) && [[ -z $stopping ]]; then
    # Locks are left of a container that was killed, with process numbers that others have now: the next server would refuse to start. Only now is
    # it known that they are of none that still runs.
    if ((fresh)); then rm -f -- "$data/postmaster.pid" "$socket"/.s.PGSQL.*; fi
    fresh=0
    # In a process group of its own, so that what it leaves behind can be ended with it; PostgreSQL has a session of its own, and stays.
    set -m
    TMPDIR=$run patroni "$run/patroni.yml" &
    set +m
    child=$!
    patroni=$child
    watch_secrets "$child" "$mounted" &
    watcher=$!
    begun=$SECONDS
    finish
    code=$?
    kill "$watcher" 2>/dev/null
    wait "$watcher" 2>/dev/null
    # A clone that went on beside the next one would put a directory in place of which parts were removed.
    kill -KILL -- "-$patroni" 2>/dev/null
    ((SECONDS - begun > 2)) && failures=0
    # Killed by somebody, it is no worse for that.
    ((code > 128 && failures > 2)) && failures=2
    [[ -z $stopping ]] && echo "supervisor: Patroni ended with $code; it is started again"
  fi
  if [[ -z $stopping ]]; then
    sleep "${pauses[failures]}" &
    wait $!
    ((failures < ${#pauses[@]} - 1)) && failures=$((failures + 1))
  fi
done

# Patroni stops PostgreSQL; where it died on the way, or was just being started, that is left to do.
if ((!fresh)) && pid=$(postmaster); then
  kill -INT "$pid" 2>/dev/null
  while kill -0 "$pid" 2>/dev/null; do sleep 0.1; done
fi
kill "$sentinel" 2>/dev/null
exit 0
