#!/usr/bin/env bash
# Patroni runs this as its initdb: OPTIONS… DATADIR. The data directory appears whole, with the roles of the system, or not at all: so one that was
# cut off is never taken for data. The start gate is asked once more, for time has passed since the start.
set -euo pipefail

scripts=$(dirname "$0")
data=${!#}
fresh=$data.initialising
said=${PLUMBLINE_RUN:-/run/plumbline}/initdb.log

# What went wrong reaches the status of the database by the pod.
# shellcheck disable=SC2317 # called by the trap
fail() {
  local code=$?
  # Who is killed says nothing.
  if ((code > 128)); then echo "initdb: error: ended by signal $((code - 128)), as for want of memory" >>"$said"; fi
  cat -- "$said" >&2
  python3 -B "$scripts/start_gate.py" initdb-failed <"$said" || true
}

python3 -B "$scripts/start_gate.py" may-initialise
rm -rf -- "$fresh"
trap fail ERR
initdb "${@:1:$#-1}" "$fresh" 2>"$said"
python3 -B "$scripts/roles.py" 2>>"$said" | postgres --single -j -D "$fresh" -c log_statement=none template1 >/dev/null 2>>"$said"
trap - ERR
sync -- "$fresh"
mv -T -- "$fresh" "$data"
sync -- "$(dirname "$data")"
# Where this fails the next start does it.
python3 -B "$scripts/start_gate.py" initialised || true
