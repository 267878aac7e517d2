#!/bin/sh
# PID 1 of the exporter's container, with the arguments of postgres_exporter. One that dies is started again here: a container that ended would make the
# member unready, and the Services would lead away from a healthy primary. For any POSIX shell, for the image is not ours.
set -u

child=
# shellcheck disable=SC2317,SC2329 # called by the trap
stop() {
  if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi
  exit 0
}
trap stop TERM INT

# Read at each new connection.
export PGPASSFILE="${PLUMBLINE_MONITORING:-/run/plumbline-monitoring}/pgpass"

while :; do
  postgres_exporter "$@" &
  child=$!
  wait "$child"
  echo "exporter: ended with $?; it is started again"
  sleep 5 &
  child=$!
  wait "$child"
done
