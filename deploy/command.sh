#!/bin/sh
# Runs a command of the package: ironic, ironic-api, ironic-conductor, ironic-dbsync, ironic-status, ironic-manage, ironic-policy.
set -eu
command=${1:-ironic}
shift || true
case $command in
  ironic) file=ironic ;;
  ironic-*) file=${command#ironic-} ;;
  *) echo "There is no command $command." >&2; exit 2 ;;
esac
exec node "/opt/openkeel-ironic/dist/cmd/$file.js" "$@"
