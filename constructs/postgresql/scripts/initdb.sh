#!/usr/bin/env bash
# Patroni runs this as its initdb: OPTIONS… DATADIR. The data directory appears whole, with the roles of the system, or not at all: so one that was
# cut off is never taken for data. The start gate is asked once more, for time has passed since the start.
set -euo pipefail

scripts=$(dirname "$0")
data=${!#}
fresh=$data.initialising

python3 -B "$scripts/start_gate.py" may-initialise
# What Patroni moved aside when an earlier initialisation failed: no identity is known, so it never was anybody's data.
rm -rf -- "$fresh" "$data.failed"
initdb "${@:1:$#-1}" "$fresh"
python3 -B "$scripts/roles.py" | postgres --single -j -D "$fresh" -c log_statement=none template1 >/dev/null
sync -- "$fresh"
mv -T -- "$fresh" "$data"
sync -- "$(dirname "$data")"
