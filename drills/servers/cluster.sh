# Sourced by the clusters of this directory, three servers that replicate their writes. Node N has the directory DIR/N
# and the port BASEPORT + N. A cluster defines its own commands and these functions:
#   form          starts all nodes of a new cluster
#   restart N     starts a node that has ended
#   known_by N    prints how many nodes node N knows

at() { echo "$dir/$1"; }
port() { echo $((base + $1)); }

# cluster COMMAND ARG…
cluster() {
  local command=${1:-} node=${3:-}
  dir=$(realpath -m "${2:?DIR}")
  [ "$command" = start ] && base=$3 || base=$(cat "$dir/base")
  case $command in
    start)
      fetch
      mkdir -p "$dir"
      echo "$base" >"$dir/base"
      form
      cluster url "$dir"
      ;;
    url) for node in 1 2 3; do url "$(port $node)"; done ;;
    status) for node in 1 2 3; do echo "$node $(port $node) knows=$(known_by $node 2>/dev/null || true)"; done ;;
    wipe)
      for node in 1 2 3; do end "$(at $node)" KILL; done
      rm -rf "$dir"
      ;;
    kill-node) end "$(at "$node")" KILL ;;
    stop-node) end "$(at "$node")" TERM ;;
    restart-node)
      end "$(at "$node")" TERM
      restart "$node"
      ;;
    pause-node) kill -STOP "$(cat "$(at "$node")/pid")" ;;
    resume-node) kill -CONT "$(cat "$(at "$node")/pid")" ;;
    *) "$command" "$node" ;;
  esac
}
