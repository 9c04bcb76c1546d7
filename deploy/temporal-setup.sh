#!/bin/sh
# Makes the namespace that runs live in; `docrail server migrate` registers its search attributes. Safe to repeat.
# TEMPORAL_ADDRESS and TEMPORAL_NAMESPACE are read by the `temporal` program itself.
set -eu

# Tries a command for a minute: the server starts, and learns of a new namespace, a moment later than it says.
eventually() {
  tries=0
  until "$@" >/dev/null 2>&1; do
    tries=$((tries + 1))
    [ "$tries" -lt 60 ] || { echo "gave up on: $*" >&2; "$@"; return; }
    sleep 1
  done
}

eventually temporal operator cluster health
temporal operator namespace describe -n "$TEMPORAL_NAMESPACE" >/dev/null 2>&1 ||
  temporal operator namespace create -n "$TEMPORAL_NAMESPACE" --retention 30d
eventually temporal operator namespace update -n "$TEMPORAL_NAMESPACE" --retention 30d
eventually temporal operator search-attribute list -n "$TEMPORAL_NAMESPACE"
