#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# knc-info on machines that are made of files: a tree in place of /sys, dumps of PCI buses in libpci's
# format, and device nodes that a preload makes up.
set -u
work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' INT TERM
# From a copy: the build folder may be closed to the user that one case runs as.
cp "$top_builddir/knc-info" "$top_builddir/.libs/libhw-recorder.so" "$work" || exit 99
chmod 755 "$work"
tool=$work/knc-info
tree=$work/sys
SCIF_SYSFS_ROOT=$tree
export SCIF_SYSFS_ROOT
unset SCIF_HW_DEVICE SCIF_PROVIDER
checks=0
failed=0

if "$tool" | grep -q 'built without libpci'; then
	echo "built without libpci: there is no bus to look at"
	exit 77
fi

check() { # WHAT EXPECTED OBSERVED
	checks=$((checks + 1))
	[ "$2" = "$3" ] && return
	failed=$((failed + 1))
	printf '%s\n  expected: %s\n  observed: %s\n' "$1" "$2" "$3"
}

# shellcheck source=harness/tests/hw/machine.sh
. "$top_srcdir/harness/tests/hw/machine.sh"

run() { # ARGUMENT...
	RECORDER_NODES=$nodes LD_PRELOAD=$work/libhw-recorder.so "$tool" "$@" >"$work/out" 2>"$work/err"
}

last_line() {
	tail -n 1 "$work/out"
}

# The whole of it: status and last line; nothing on stderr; the JSON document says the same.
concludes() { # WHAT STATUS LAST-LINE
	run
	check "$1: status" "$2" $?
	check "$1: last line" "$3" "$(last_line)"
	check "$1: messages" "" "$(cat "$work/err")"
	run --json
	check "$1: status with --json" "$2" $?
	check "$1: format" 1 "$(grep -c '^  "format": "knc-info/1",$' "$work/out")"
	quoted=$(printf '%s' "$3" | sed 's/"/\\"/g')
	check "$1: summary" 1 "$(grep -cxF "  \"summary\": \"$quoted\"," "$work/out")"
	check "$1: usable" 1 "$(grep -c "^  \"usable\": $([ "$2" = 0 ] && echo true || echo false),\$" "$work/out")"
	run
}

# A line of the last output.
shows() { # WHAT LINE
	check "$1: the line \"$2\"" 1 "$(grep -cxF -- "$2" "$work/out")"
}

cannot() { # WHAT REASON NEXT
	concludes "$1" 1 "SCIF cannot be used: $2; next: $3."
}

machine
concludes "no card" 1 'SCIF cannot be used with a card: there is no Knights Corner card in this machine; programs then use the embedded provider, which needs none.'
shows "no card" '0 cards'
SCIF_PROVIDER=hw:knc
export SCIF_PROVIDER
concludes "no card, a driver asked for" 1 'SCIF cannot be used with a card: there is no Knights Corner card in this machine; programs get ENXIO, because SCIF_PROVIDER asks for a driver.'
unset SCIF_PROVIDER
card 02:00.0 225f none
card 03:00.0 224f none
card 04:00.0 2249 none
run
shows "ids that the driver does not know" '0 cards'

for digit in 0 1 2 3 4 5 6 7 8 9 a b c d e; do
	healthy 225$digit
	run
	check "225$digit: status" 0 $?
	check "225$digit: last line" 'SCIF can be used with node 1 (mic0).' "$(last_line)"
	check "225$digit: device" 1 "$(grep -c "^  device  *8086:225$digit revision 20 (..*)\$" "$work/out")"
done
healthy 225c
concludes "a healthy card" 0 'SCIF can be used with node 1 (mic0).'
shows "a healthy card" '  PCI address      0000:02:00.0'
shows "a healthy card" '  device           8086:225c revision 20 (SE10, 7110, 7120)'
shows "a healthy card" '  BAR 0 (memory)   at 0x3800000000, 8388608 KiB'
shows "a healthy card" '  BAR 4 (registers) at 0xf8000000, 128 KiB'
shows "a healthy card" '  link             x16 at 5.0 GT/s; the card can x16 at 5.0 GT/s'
shows "a healthy card" '  driver           mic'
shows "a healthy card" '  family           x100, stepping C0, SKU C0PRQ-7120 P/A/X/D'
shows "a healthy card" 'driver            loaded, version 3.8.6-1'
shows "a healthy card" 'device node       /dev/mic/scif: knc'
check "a healthy card has no problems or notes" 0 "$(grep -c 'problem:\|note:' "$work/out")"

healthy 225c
card 83:00.0 225d mic
mic 1 83:00.0 booting 'not present'
concludes "two cards, one booting" 0 'SCIF can be used with node 1 (mic0), not with mic1: its state is "booting"; next: wait until its state is online.'
shows "two cards" '2 cards'
mic 1 83:00.0 online online
concludes "two cards" 0 'SCIF can be used with node 1 (mic0), node 2 (mic1).'
mic 0 83:00.0 online online
mic 1 02:00.0 booting 'not present'
concludes "two cards, named the other way round" 0 'SCIF can be used with node 1 (mic0), not with mic1: its state is "booting"; next: wait until its state is online.'
check "the booting card is the one at 02:00.0" mic1 \
	"$(sed -n '/^mic/h; /0000:02:00.0/{x; s/ .*//; p; x;}' "$work/out")"
echo 2.1.02.0390 >"$tree/class/mic/mic1/flashversion"
echo 1.1 >"$tree/class/mic/mic1/interface_version"
run
shows "mixed versions" 'note: the cards have different flash versions; next: flash the cards from one release'
shows "mixed versions" 'note: the cards have different interface versions; next: boot the cards with images of one release'

healthy 225c
rm -r "$tree/class/mic/mic0"
card 02:00.0 225c mic 00
cannot "BAR 0 unassigned" 'the card at 0000:02:00.0: BAR 0 has no address' \
	'switch on "above 4G decoding" in the machine'\''s firmware set-up'
shows "BAR 0 unassigned" '  BAR 0 (memory)   no address'

machine
card 02:00.0 225c none
cannot "no driver" 'the card at 0000:02:00.0: no driver has taken it' "load Intel's driver: modprobe mic"
shows "no driver" '  driver           none'
card 02:00.0 225c mic_host
cannot "the kernel's own driver" "the card at 0000:02:00.0: the kernel's own mic_host has taken it; Intel's driver mic is needed" \
	'keep mic_host from being loaded (blacklist it), then: modprobe -r mic_host; modprobe mic'
nodes='/dev/mic/scif=absent,/dev/scif=mpss4'
mkdir -p "$tree/class/mic/mic0"
printf online >"$tree/class/mic/mic0/state"
concludes "the successor's driver, answering" 0 'SCIF can be used with node 1 (mic0).'
machine
card 02:00.0 225c vfio-pci
cannot "another driver" "the card at 0000:02:00.0: driver vfio-pci has taken it; Intel's driver mic is needed" \
	'unbind it from that driver, then: modprobe mic'

machine
driver
concludes "driver without card" 0 'SCIF can be used in loopback only (node 0 with itself): the driver answers, but there is no card.'

for state in lost 'no response'; do
	healthy 225c
	mic 0 02:00.0 "$state" 'not present'
	cannot "$state" "mic0: its state is \"$state\"" 'reset it as root (micctrl -r), then boot it (micctrl -b)'
done
mic 0 02:00.0 ready 'not present'
cannot "ready" 'mic0: its state is "ready"' 'boot it as root: micctrl -b'
mic 0 02:00.0 online stopped
cannot "scif_status" 'mic0: its scif_status is "stopped"' 'restart the card as root: micctrl -r, then micctrl -b'

healthy 225c
for line in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
	echo "${line}0: ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff"
done | bytes >"$tree/bus/pci/devices/0000:02:00.0/config"
mic 0 02:00.0 lost 'not present'
cannot "off the bus" 'mic0: it does not answer on the PCI bus' 'switch the machine off and on again'

healthy 225c
rm -r "$tree/class/mic/mic0"
cannot "the driver refused the card" 'the card at 0000:02:00.0: the driver does not know it' \
	"look at the driver's messages in dmesg"

healthy 225c
nodes='/dev/mic/scif=EACCES,/dev/scif=absent'
cannot "node denied" '/dev/mic/scif may not be opened by this user' \
	"install the driver's udev rule (mode 0666), or run programs as root"
nodes='/dev/mic/scif=absent,/dev/scif=absent'
cannot "no node" 'there is no /dev/mic/scif' "install the driver's udev rule and run udevadm trigger"
nodes='/dev/mic/scif=ENXIO,/dev/scif=absent'
cannot "nothing behind the node" '/dev/mic/scif: No such device or address' "load Intel's driver: modprobe mic"
nodes='/dev/mic/scif=stranger,/dev/scif=absent'
cannot "another device" '/dev/mic/scif is not the device of a SCIF driver' \
	"remove it and load Intel's driver: modprobe mic"
nodes='/dev/mic/scif=knc2,/dev/scif=absent'
cannot "another version" 'the driver speaks version 2 of the interface, libscif speaks version 1' \
	'install driver and libscif of one release'

healthy 225c
card 02:00.0 225c mic 38 '81 00'
concludes "a poor link" 0 'SCIF can be used with node 1 (mic0).'
shows "a poor link" '  note: its link has 8 lanes of 16; next: use a slot with more lanes, or seat the card anew'
shows "a poor link" '  note: its link runs at 2.5 of 5.0 GT/s; next: look for a faster slot or a firmware setting'
echo 0 >"$tree/class/mic/scif/watchdog_enabled"
run
shows "no watchdog" 'note: the watchdog is off: the loss of a card is not noticed; next: load the driver with watchdog=1'

echo 1 >"$tree/class/mic/scif/watchdog_enabled"
echo 0 >"$tree/class/mic/scif/watchdog_auto_reboot"
run
shows "no reboot" 'note: a card that the watchdog finds lost stays lost until it is booted by hand; next: load the driver with watchdog_auto_reboot=1'
healthy 225c
mic 0 02:00.0 online sleeping
cannot "a card that sleeps" 'mic0: its scif_status is "sleeping"' 'wake it by using it, or switch its power management off'
rm "$tree/class/mic/mic0/scif_status"
mkdir "$tree/class/mic/mic0/scif_status"
cannot "a scif_status that cannot be read" 'mic0: its scif_status could not be read: Is a directory' \
	"look at the driver's messages in dmesg"

# libpci warns of it; that is no concern of the reader's.
healthy 225c
rm "$tree/bus/pci/devices/0000:02:00.0/config"
concludes "no configuration" 0 'SCIF can be used with node 1 (mic0).'
healthy 225c
rm -r "$tree/bus/pci/devices/0000:02:00.0" "$tree/class/mic/mic0/device"
concludes "a card that the driver knows and the bus does not" 0 'SCIF can be used with node 1 (mic0).'

# What another user may read of the configuration is its head.
healthy 225c
config 225c 38 '02 01' | bytes | dd bs=64 count=1 of="$tree/bus/pci/devices/0000:02:00.0/config" 2>"$work/dd"
concludes "the head of the configuration" 0 'SCIF can be used with node 1 (mic0).'
shows "the head" '  note: its link could not be read (root may)'
echo 16 >"$tree/bus/pci/devices/0000:02:00.0/current_link_width"
echo 16 >"$tree/bus/pci/devices/0000:02:00.0/max_link_width"
echo '5.0 GT/s PCIe' >"$tree/bus/pci/devices/0000:02:00.0/current_link_speed"
echo '5.0 GT/s PCIe' >"$tree/bus/pci/devices/0000:02:00.0/max_link_speed"
run
shows "the link from its own files" '  link             x16 at 5.0 GT/s; the card can x16 at 5.0 GT/s'

as_another() {
	if [ "$(id -u)" -ne 0 ]; then
		"$@"
	else
		setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	fi
}
if as_another true 2>"$work/err"; then
	healthy 225c
	chmod 0 "$tree/class/mic/mic0/state"
	root_tool=$tool
	printf '#!/bin/sh\nexec setpriv --reuid=65534 --regid=65534 --clear-groups "%s" "$@"\n' "$tool" >"$work/as-another"
	chmod 755 "$work/as-another"
	[ "$(id -u)" -ne 0 ] || tool=$work/as-another
	cannot "state denied" 'mic0: its state could not be read: Permission denied' 'run knc-info as root'
	shows "state denied" '  state            Permission denied'
	chmod 0 "$tree/bus/pci/devices"
	run
	check "bus denied: status" 1 $?
	check "bus denied" 1 "$(grep -c '^PCI bus  *not looked at: ..*' "$work/out")"
	chmod 755 "$tree/bus/pci/devices"
	tool=$root_tool
else
	echo "not tried: files that may not be read (needs setpriv)"
fi

# Dumps carry the bus alone.
machine
dump=$work/dump
for digit in 0 1 2 3 4 5 6 7 8 9 a b c d e f; do
	echo "0000:0$digit:00.0 Co-processor: Intel Corporation"
	config 225$digit 38 '02 01'
	echo
done >"$dump"
run -F "$dump"
check "dump of all devices: status" 1 $?
shows "dump of all devices" '15 cards'
check "dump of all devices: BAR 0" 15 "$(grep -cxF '  BAR 0 (memory)   at 0x3800000000' "$work/out")"
for digit in 0 1 2 3 4 5 6 7 8 9 a b c d e; do
	check "225$digit in the dump" 1 "$(grep -c "^  device  *8086:225$digit revision 20 (" "$work/out")"
done
{
	echo '02:00.0 Co-processor: Intel Corporation'
	config 225c 00 '02 01'
} >"$dump"
run -F "$dump"
shows "BAR 0 unassigned in a dump" '  problem: BAR 0 has no address; next: switch on "above 4G decoding" in the machine'\''s firmware set-up'
check "BAR 0 unassigned in a dump" 'SCIF cannot be used: the card at 0000:02:00.0: BAR 0 has no address; next: switch on "above 4G decoding" in the machine'\''s firmware set-up.' "$(last_line)"
healthy 225c
run -F "$dump"
check "a dump with a tree" 0 $?
shows "a dump with a tree" '  state            online'

: >"$dump"
machine
run -F "$dump"
check "empty dump" 1 $?
shows "empty dump" '0 cards'
run -F "$work/nothing"
check "no dump: status" 2 $?
check "no dump: nothing on stdout" 0 "$(wc -c <"$work/out" | tr -d ' ')"
for garbage in '02:00.0 x\n00: zz\n' '02:00.0 x\n00: 86 80 5c 22' '\377\376\000\001\n' \
	'02:00.0\n10: 86 80\nff0: 01 02 03\n' '00: 86 80 5c 22\n'; do
	printf "$garbage" >"$dump"
	run -F "$dump"
	check "garbage '$garbage': status" 1 $?
	check "garbage '$garbage': last line" 'SCIF cannot' "$(last_line | cut -c 1-11)"
done

printf '02:00.0 x\n00: 86 80 5c 22' >"$dump"
run -F "$dump"
check "a dump that was cut off" 1 "$(grep -c '^PCI bus  *not looked at: ..*' "$work/out")"

# Bytes of any kind in the files: nothing but printable text comes out.
healthy 225c
printf 'on\033[2Jline\377\001\n' >"$tree/class/mic/mic0/state"
head -c 5000 /dev/zero | tr '\0' 'x' >"$tree/class/mic/mic0/sku"
head -c 300 /dev/urandom >"$tree/class/mic/mic0/family"
: >"$tree/class/mic/mic0/stepping"
rm "$tree/class/mic/mic0/flashversion"
mkdir "$tree/class/mic/mic0/flashversion" "$tree/class/mic/micx" "$tree/class/mic/mic" "$tree/class/mic/mic99999"
cannot "garbage in the state" 'mic0: its state is "on?[2Jline??"' "look at the driver's messages in dmesg"
check "only printable bytes" 0 "$(LC_ALL=C tr -d '\n -~' <"$work/out" | wc -c | tr -d ' ')"
run --json
check "only printable bytes in JSON" 0 "$(LC_ALL=C tr -d '\n -~' <"$work/out" | wc -c | tr -d ' ')"
if command -v python3 >/dev/null 2>&1; then
	python3 -c 'import json, sys; json.load(sys.stdin)' <"$work/out" 2>"$work/err"
	check "the JSON document can be read" 0 $?
fi
healthy 225c
echo 'what is this' >"$tree/bus/pci/devices/0000:02:00.0/resource"
run
check "garbage in resource: last line" SCIF "$(last_line | cut -c 1-4)"
healthy 225c
: >"$tree/bus/pci/devices/0000:02:00.0/config"
concludes "empty configuration" 0 'SCIF can be used with node 1 (mic0).'
shows "empty configuration" '  device           8086:225c revision not known (SE10, 7110, 7120)'
shows "empty configuration" '  note: its link could not be read (root may)'

for wrong in --frobnicate -x 'extra' '--json extra' -F; do
	run $wrong
	check "$wrong: status" 2 $?
	check "$wrong: nothing on stdout" 0 "$(wc -c <"$work/out" | tr -d ' ')"
done
run --help
check "--help" 0 $?
run --version
check "--version" 0 $?
check "--version" knc-info "$(cut -c 1-8 "$work/out")"
if [ -w /dev/full ]; then
	"$tool" >/dev/full 2>"$work/err"
	check "no room for the output: status" 1 $?
	check "no room for the output" 'knc-info: the output could not be written' "$(cat "$work/err")"
fi
page=$top_srcdir/docs/knc-info.1
for option in $(sed -n 's/^  -[a-zA-Z], --\([a-z-]*\).*/\1/p' "$work/out"); do
	check "--$option is in the manual page" 1 "$(grep -c "Fl Fl\? \?-\?$option\b\|Fl -$option\b" "$page")"
done
if command -v mandoc >/dev/null 2>&1; then
	mandoc -T lint -W warning "$page" >"$work/lint"
	check "the manual page" "" "$(cat "$work/lint")"
fi

# This machine, whatever it is.
unset SCIF_SYSFS_ROOT
"$tool" >"$work/out" 2>"$work/err"
status=$?
check "this machine: status" 1 "$([ $status -le 1 ] && echo 1)"
check "this machine: last line" SCIF "$(last_line | cut -c 1-4)"
last_line

echo "$checks checks, $failed failed"
[ "$failed" -eq 0 ]
