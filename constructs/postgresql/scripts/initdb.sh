#!/usr/bin/env bash
# Patroni runs this as its initdb: OPTIONS… DATADIR. The data directory appears whole or not at all, so one that was cut off is never taken for
# data; and the start gate is asked once more, for time has passed since the start.
set -euo pipefail

scripts=$(dirname "$0")
data=${!#}
fresh=$data.initialising

python3 -B "$scripts/start_gate.py" may-initialise
rm -rf -- "$fresh"
initdb "${@:1:$#-1}" "$fresh"
mv -T -- "$fresh" "$data"
sync -- "$(dirname "$data")"
# Where this fails the start gate does it at the next start.
python3 -B "$scripts/start_gate.py" record "$data" || true
