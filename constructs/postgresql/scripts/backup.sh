#!/usr/bin/env bash
# Dumps every database and the roles into a folder of its own, which gets its final name only when everything in it was checked and lies on the
# disk. Old backups are removed after that, so a run that fails removes nothing and leaves nothing behind.
#
#   backup.sh --host=… --port=… --username=… --password-file=… --into=FOLDER --keep=N --time-zone=NAME
set -euo pipefail
shopt -s nullglob
umask 077

for argument in "$@"; do
  value=${argument#*=}
  case $argument in
    --host=*) export PGHOST=$value ;;
    --port=*) export PGPORT=$value ;;
    --username=*) export PGUSER=$value ;;
    --password-file=*) password_file=$value ;;
    --into=*) into=$value ;;
    --keep=*) keep=$value ;;
    --time-zone=*) time_zone=$value ;;
    *)
      echo "backup: unknown argument $argument" >&2
      exit 2
      ;;
  esac
done
export PGCONNECT_TIMEOUT=30 PGAPPNAME=plumbline-backup PGCLIENTENCODING=UTF8

partial=$into/.partial-$$
passwords=${PLUMBLINE_RUN:-/run/plumbline}/pgpass-$$
# What the last program said on its standard error.
said=${PLUMBLINE_RUN:-/run/plumbline}/said-$$
# What Kubernetes shows of a container that failed; without a word of ours it takes the end of the log.
last_words=${PLUMBLINE_TERMINATION_LOG:-/dev/termination-log}

child=

clean_up() {
  local code=$?
  if [[ -n $child ]]; then
    kill -TERM "$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  if ((code != 0)); then explain; fi
  rm -rf -- "$partial" "$passwords" "$said"
}

# The first error is the cause, whatever else is said; pg_dump goes on with the text of a query.
explain() {
  local line cause=
  [[ -s $said ]] || return 0
  cat -- "$said" >&2
  while IFS= read -r line; do
    if [[ -z $cause || $line == *error:* ]]; then cause=$line; fi
    if [[ $line == *error:* ]]; then break; fi
  done <"$said"
  if [[ -f $last_words && -w $last_words ]]; then printf '%s\n' "$cause" >"$last_words"; fi
}
trap clean_up EXIT
trap 'exit 143' TERM INT

# Runs a program so that a signal does not wait for its end.
run() {
  "$@" 2>"$said" &
  child=$!
  wait "$child"
  child=
  cat -- "$said" >&2
  rm -- "$said"
}

# The schedule never starts two runs, but somebody may start one beside it. The lock goes with this process, however it ends.
wait_for_others() {
  exec 9<"$into"
  run python3 -c 'import fcntl
try:
    fcntl.flock(9, fcntl.LOCK_EX | fcntl.LOCK_NB)
except BlockingIOError:
    print("backup: waits for another run to end", flush=True)
    fcntl.flock(9, fcntl.LOCK_EX)
except OSError as error:
    print(f"backup: goes on without a lock, which this volume does not have: {error.strerror}", flush=True)'
}

# The network of a new pod takes a moment, and so does the Service of a primary that has just moved.
wait_for_server() {
  local tries
  for ((tries = 0; tries < 60; tries++)); do
    if pg_isready --quiet --timeout=5; then return; fi
    run sleep 1
  done
}

# A password file: a colon and a backslash in the password are escaped. It lies in memory and goes with this process.
write_password_file() {
  local password
  password=$(<"$password_file")
  password=${password//\\/\\\\}
  password=${password//:/\\:}
  printf '*:*:*:*:%s\n' "$password" >"$passwords"
  export PGPASSFILE=$passwords
}

# A name of a database as a file name: what is no letter, digit, _ or - is written as %XX.
file_name() {
  local LC_ALL=C text=$1 result='' char code i
  for ((i = 0; i < ${#text}; i++)); do
    char=${text:i:1}
    case $char in
      [A-Za-z0-9_-]) result+=$char ;;
      *)
        printf -v code '%%%02X' "'$char"
        result+=$code
        ;;
    esac
  done
  printf '%s' "$result"
}

# The name of a backup: when it was begun.
stamp() {
  date -u +%Y%m%dT%H%M%SZ
}

# Names, each ended by a NUL: a name may hold anything else.
databases() {
  PGDATABASE=postgres psql -X -q -A -t -0 -v ON_ERROR_STOP=1 \
    -c 'select datname from pg_database where datallowconn and not datistemplate order by datname'
}

dump() {
  local file
  file=$partial/$(file_name "$1").dump
  # By the environment: as an argument, a name such as a=b would be read as a connection string.
  PGDATABASE=$1 run pg_dump -Fc --no-password --file="$file"
  run pg_restore --list "$file" >/dev/null
  run sync -- "$file"
  echo "backup: $(file_name "$1"): $(stat -c %s "$file") bytes"
}

# Of these names, those of backups that a later one stands for: where the clock goes back, it shows an hour twice, and what the schedule has in it
# is made twice. The server knows the zones; an image may not.
doubled() {
  PGDATABASE=postgres psql -X -q -A -t -v ON_ERROR_STOP=1 -v zone="$time_zone" -v names="$*" <<'SQL'
with made as (
  select name, at, (at at time zone :'zone') - (at at time zone 'UTC') as ahead
  from (select name, cast(name as timestamptz) as at from string_to_table(:'names', ' ') as name) as names
)
select a.name
from made a join made b on a.at < b.at and a.ahead > b.ahead
where (b.at - a.at) - (a.ahead - b.ahead) between (b.ahead - a.ahead) / 2 and (a.ahead - b.ahead) / 2
order by a.name;
SQL
}

# The oldest go, but first those that another one stands for: one night counts once. By globs, in the order of their names: an image may have no
# `find`. A folder with another kind of name is somebody else's.
prune() {
  local names=() folder name count
  for folder in "$into"/[0-9]*T[0-9]*Z/; do
    name=$(basename "$folder")
    if [[ $name =~ ^[0-9]{8}T[0-9]{6}Z$ ]]; then names+=("$name"); fi
  done
  count=$((${#names[@]} - keep))
  if ((count <= 0)); then return; fi
  for name in $(doubled "${names[@]}") "${names[@]}"; do
    if ((count == 0)); then break; fi
    if [[ ! -d $into/$name ]]; then continue; fi
    echo "backup: removes $name"
    rm -rf -- "${into:?}/$name" || return
    count=$((count - 1))
  done
}

mkdir -p -- "$into"
wait_for_others
# What a killed run left.
rm -rf -- "$into"/.partial-*
name=$(stamp)
while [[ -e $into/$name ]]; do
  run sleep 1
  name=$(stamp)
done
mkdir -- "$partial"
write_password_file
wait_for_server

PGDATABASE=postgres run pg_dumpall --globals-only --no-password --file="$partial/globals.sql"
[[ -s $partial/globals.sql ]]
sync -- "$partial/globals.sql"
databases >"$partial/.databases"
while IFS= read -r -d '' database; do dump "$database"; done <"$partial/.databases"
rm -- "$partial/.databases"

sync -- "$partial"
mv -T -- "$partial" "$into/$name"
sync -- "$into"
echo "backup: $into/$name is complete"
prune || echo "backup: not every old backup could be removed" >&2
