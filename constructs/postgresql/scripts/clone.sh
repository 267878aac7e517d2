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

rm -rf -- "$fresh"
if [[ $source =~ host=([^ ]+) ]]; then python3 -B "$scripts/wake.py" "${BASH_REMATCH[1]}" || true; fi
pg_basebackup --pgdata="$fresh" --wal-method=stream --checkpoint=fast --no-password --dbname="$source"
mv -T -- "$fresh" "$data"
sync -- "$(dirname "$data")"
# Where this fails the start gate does it at the next start.
python3 -B "$scripts/start_gate.py" cloned || true
