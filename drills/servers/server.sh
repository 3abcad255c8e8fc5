# Sourced by programs of this directory that start servers; most are databases on 127.0.0.1. Packages of Debian or Ubuntu
# (Ubuntu is untested) are unpacked into a cache. Nothing is installed, so the databases need no root, and the machine's own
# servers stay as they are. Delete the cache to get newer versions.
set -euo pipefail
cache=${XDG_CACHE_HOME:-$HOME/.cache}/waitlist-service/servers
start_limit_s=90
stop_limit_s=30
# For each server: a database, and a user who may make more whose names begin alike.
accounts="
  CREATE DATABASE IF NOT EXISTS waitlist;
  CREATE USER IF NOT EXISTS 'waitlist'@'%' IDENTIFIED BY 'waitlist';
  GRANT ALL PRIVILEGES ON \`waitlist%\`.* TO 'waitlist'@'%';"

fail() { printf '%s: %s\n' "$(basename "$0")" "$*" >&2; exit 1; }

# unpack FOLDER SUITE DEPENDENT ALONE: unpacks packages into a folder of the cache: those of the list DEPENDENT with all
# that they depend on, those of the list ALONE without. SUITE is empty for the machine's own.
unpack() {
  [ ! -e "$cache/$1" ] || return 0
  mkdir -p "$cache"
  # Steps of CI run side by side.
  (flock 9; [ -e "$cache/$1" ] || download "$@") 9>"$cache/lock"
}
download() {
  local folder=$cache/$1 suite=$2 dependent=$3 alone=$4 deb loader libraries program
  work=$(mktemp -d "$cache/new.XXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work"/{state/lists/partial,cache/archives/partial,root}
  # An empty list of installed packages: apt takes all libraries too.
  touch "$work/status"
  cat >"$work/apt.conf" <<END
Dir::State "$work/state";
Dir::State::status "$work/status";
Dir::Cache "$work/cache";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
APT::Sandbox::User "root";
APT::Install-Recommends "false";
Acquire::Languages "none";
Acquire::Retries "3";
END
  if [ -n "$suite" ]; then
    # Of the machine's sources, only Debian's mirror has this suite, signed by Debian's key. apt reports the others.
    apt-get indextargets 'Created-By: Packages' 'Component: main' \
      --format "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] \$(REPO_URI) $suite main" |
      sort -u >"$work/sources.list"
    printf 'Dir::Etc::sourcelist "%s";\nDir::Etc::sourceparts "/dev/null";\n' "$work/sources.list" >>"$work/apt.conf"
  fi
  # Left of `||`, a failing command does not end a list, so they are chained: half of the packages must not be kept.
  # shellcheck disable=SC2086
  (
    cd "$work/cache/archives" &&
      { apt-get -qq -c "$work/apt.conf" update || true; } &&
      apt-get -qq -c "$work/apt.conf" install --yes --download-only $dependent &&
      { [ -z "$alone" ] || apt-get -qq -c "$work/apt.conf" download $alone; }
  ) >"$work/log" 2>&1 || { cat "$work/log" >&2; fail "no packages: $dependent $alone"; }
  for deb in "$work"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$deb" |
      tar -x -C "$work/root" --no-same-owner --keep-directory-symlink --exclude=./usr/share/{doc,man,locale}
  done
  # Another suite has another C library, so programs run by the loader of the packages.
  loader=$(cd "$work/root" && find . -type f -name 'ld-linux*.so.*' -print -quit)
  libraries=$(cd "$work/root" && find . -name 'lib*.so*' -printf "$folder/%h\n" | sort -u | paste -sd:)
  for program in "$work"/root/usr/{bin,sbin}/{maria,my,resolveip}*; do
    [ -f "$program" ] && [ ! -L "$program" ] && [ "$(head -c 4 "$program" | tail -c 3)" = ELF ] || continue
    mv "$program" "$program.elf"
    printf '#!/bin/sh\nexec "%s" --argv0 "$0" --library-path "%s" "%s" "$@"\n' \
      "$folder/$loader" "$libraries" "$folder${program#"$work/root"}.elf" >"$program"
    chmod +x "$program"
  done
  mv "$work/root" "$folder"
}

# A server has a directory: data, s.sock, pid, server.log. Its user root needs no password on the socket.

# alive DIR: a zombie has no command line.
alive() { [ -s "$1/pid" ] && grep -qsaF -- "--datadir=$1/data" "/proc/$(cat "$1/pid")/cmdline"; }

# root DIR SQL: prints the rows. A server that hangs must not hang the caller.
root() { timeout 60 "${client[@]}" --connect-timeout=5 -u root -S "$1/s.sock" --batch --skip-column-names -e "$2"; }

new_data() { create "$1" >"$1/create.log" 2>&1 || { tail -n 20 "$1/create.log" >&2; fail "no data in $1"; }; }

# launch DIR PORT OPTION…: the server outlives this program, in a process group of its own.
launch() {
  local home=$1 port=$2
  shift 2
  alive "$home" && return
  mkdir -p "$home"
  [ -d "$home/data" ] || new_data "$home"
  setsid "${server[@]}" --datadir="$home/data" --socket="$home/s.sock" --pid-file="$home/server.pid" --port="$port" \
    "$@" </dev/null >>"$home/server.log" 2>&1 &
  echo $! >"$home/pid"
}

# await DIR COMMAND…: until a command succeeds.
await() {
  local home=$1 end=$((SECONDS + start_limit_s))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] && alive "$home" ||
      { tail -n 20 "$home/server.log" >&2; fail "the server in $home did not start"; }
    sleep 0.1
  done
}

# end DIR SIGNAL
end() {
  local end=$((SECONDS + stop_limit_s)) process
  alive "$1" || return 0
  process=$(cat "$1/pid")
  # Failures: it has ended meanwhile.
  kill -"$2" "$process" || true
  kill -CONT "$process" 2>/dev/null || true
  while alive "$1"; do
    [ $SECONDS -lt $end ] || kill -KILL "$process" || true
    sleep 0.1
  done
}

url() { echo "mysql://waitlist:waitlist@127.0.0.1:$1/waitlist"; }

# single COMMAND ARG…: the commands of one server.
single() {
  local command=${1:-} dir=
  shift || true
  case $command in
    start | stop | kill | wipe | url) dir=$(realpath -m "${1:?DIR}") ;;
  esac
  case $command in
    fetch) fetch ;;
    start)
      fetch
      launch "$dir" "${2:?PORT}" "${@:3}"
      await "$dir" root "$dir" 'SELECT 1'
      root "$dir" "$accounts"
      url "$2" | tee "$dir/url"
      ;;
    stop) end "$dir" TERM ;;
    kill) end "$dir" KILL ;;
    wipe)
      end "$dir" KILL
      rm -rf "$dir"
      ;;
    url) cat "$dir/url" ;;
    client) exec "${client[@]}" "$@" ;;
    dump) exec "${dump[@]}" "$@" ;;
    *) fail 'start DIR PORT [OPTION…] | stop DIR | kill DIR | wipe DIR | url DIR | client ARG… | dump ARG… | fetch' ;;
  esac
}
