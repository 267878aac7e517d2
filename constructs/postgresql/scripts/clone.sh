#!/usr/bin/env bash
# Patroni runs this to make a replica: --datadir=… --connstring=… and more. As with initdb.sh, the directory appears whole or not at all.
set -euo pipefail

scripts=$(dirname "$0")
for argument in "$@"; do
  case $argument in
    --datadir=*) data=${argument#*=} ;;
    --connstring=*) source=${argument#*=} ;;
  esac
done
fresh=$data.clone
said=${PLUMBLINE_RUN:-/run/plumbline}/clone.log

# A volume that is too small is told in the status of the database, by the pod.
# shellcheck disable=SC2317 # called by the trap
fail() {
  cat -- "$said" >&2
  python3 -B "$scripts/start_gate.py" clone-failed <"$said" || true
}

rm -rf -- "$fresh"
if [[ $source =~ host=([^ ]+) ]]; then python3 -B "$scripts/wake.py" "${BASH_REMATCH[1]}" || true; fi
trap fail ERR
pg_basebackup --pgdata="$fresh" --wal-method=stream --checkpoint=fast --no-password --dbname="$source" 2>"$said"
trap - ERR
mv -T -- "$fresh" "$data"
sync -- "$(dirname "$data")"
# Where this fails the start gate does it at the next start.
python3 -B "$scripts/start_gate.py" cloned || true
