#!/bin/bash
# Runs the real ironic-python-agent as the system of a machine that is none: in mount and process namespaces of its own
# (real-machine.ts calls this under unshare), so that it sees one disk and its kernel command line, and cannot touch
# another disk, the clock or the power of this host.
set -euo pipefail
mount --make-rprivate /

# Every other block device is nothing.
for path in /sys/class/block/*; do
  device=/dev/${path##*/}
  case $device in "$AGENT_DISK" | "$AGENT_DISK"p*) continue ;; esac
  if [ -b "$device" ]; then mount --bind /dev/null "$device"; fi
done
if [ -e /proc/sysrq-trigger ]; then mount --bind /dev/null /proc/sysrq-trigger; fi
mount --bind "$AGENT_HOME/cmdline" /proc/cmdline

bin=$AGENT_HOME/bin
mkdir -p "$bin" "$AGENT_HOME/tmp" "$AGENT_HOME/etc"
for name in poweroff reboot; do
  printf '#!/bin/sh\nexec curl -fsS -X POST "%s/guest/%s"\n' "$AGENT_MACHINE" "$name" >"$bin/$name"
done
for name in hwclock modprobe; do printf '#!/bin/sh\nexit 0\n' >"$bin/$name"; done
for name in mdadm multipath multipathd chronyc chronyd ntpdate; do printf '#!/bin/sh\nexit 1\n' >"$bin/$name"; done
# Boot entries live in a file; enough of efibootmgr for the agent to write and read them.
cat >"$bin/efibootmgr" <<'SH'
#!/bin/bash
entries=$AGENT_HOME/boot-entries
touch "$entries"
label= loader= disk= part= delete= create=
while [ $# -gt 0 ]; do
  case $1 in
    --version) echo 'version 17'; exit ;;
    -c | --create) create=1 ;;
    -L) label=$2; shift ;; -l) loader=$2; shift ;; -d) disk=$2; shift ;; -p) part=$2; shift ;;
    -b) delete=$2; shift ;;
  esac
  shift
done
if [ -n "$create" ]; then
  printf 'Boot%04X* %s\tHD(%s,GPT,%s)/File(%s)\n' "$(wc -l <"$entries")" "$label" "$part" "$disk" "$loader" >>"$entries"
elif [ -n "$delete" ]; then
  sed -i "/^Boot$delete/d" "$entries"
fi
printf 'BootCurrent: 0000\nTimeout: 0 seconds\nBootOrder: 0000\n'
cat "$entries"
SH
# A kernel without vfat and iso9660 mounts nothing of that: a copy of the files is put in place instead.
cat >"$bin/mount" <<'SH'
#!/bin/bash
/usr/bin/mount "$@" 2>/dev/null && exit 0
words=()
while [ $# -gt 0 ]; do case $1 in -o | -t) shift ;; -*) ;; *) words+=("$1") ;; esac; shift; done
[ "$(blkid -o value -s TYPE -p "${words[0]}")" = vfat ] || { echo "mount: unknown file system on ${words[0]}" >&2; exit 32; }
mcopy -s -n -i "${words[0]}" '::*' "${words[1]}/" && touch "${words[1]}/.copied"
SH
cat >"$bin/umount" <<'SH'
#!/bin/bash
for last; do :; done
if [ -e "$last/.copied" ]; then find "$last" -mindepth 1 -delete; else exec /usr/bin/umount "$@"; fi
SH
chmod +x "$bin"/*

cat >"$AGENT_HOME/agent.conf" <<CFG
[DEFAULT]
listen_host = 127.0.0.1
listen_port = $AGENT_PORT
advertise_host = 127.0.0.1
advertise_port = $AGENT_PORT
disk_wait_attempts = 1
CFG
export PATH=$bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=$AGENT_HOME TMPDIR=$AGENT_HOME/tmp LANG=C.UTF-8 PYTHONPATH=$AGENT_HOME/plugin
cd "$AGENT_HOME"
# The shell stays: as the first process of the namespace it collects orphans.
"$AGENT_VENV/bin/ironic-python-agent" --config-file "$AGENT_HOME/agent.conf"
