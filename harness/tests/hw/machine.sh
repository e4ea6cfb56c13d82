# SPDX-License-Identifier: BSD-2-Clause
# Machines that are made of files, for tests to source: functions that fill $tree, which stands for /sys, and set
# $nodes, the device nodes that the recorder makes up.
# shellcheck disable=SC2034,SC2154

# Sets the files of $tree up anew: a machine without card and driver.
machine() {
	rm -rf "$tree"
	mkdir -p "$tree/bus/pci/devices" "$tree/bus/pci/drivers" "$tree/class"
	nodes='/dev/mic/scif=absent,/dev/scif=absent'
}

# The 256 bytes of a card's configuration, as lspci -xxx writes them.
config() { # ID BAR0-TOP LINK
	top=$(printf '%02x' $((0x${1#??})))
	printf '00: 86 80 %s 22 46 01 10 00 20 00 40 0b 10 00 00 00\n' "$top"
	printf '10: 0c 00 00 00 %s 00 00 00 00 00 00 00 00 00 00 00\n' "$2"
	printf '20: 04 00 00 f8 00 00 00 00 00 00 00 00 86 80 95 7d\n'
	printf '30: 00 00 00 00 44 00 00 00 00 00 00 00 0b 01 00 00\n'
	printf '40: 00 00 00 00 10 00 02 00 00 00 00 00 00 00 00 00\n'
	printf '50: 02 01 00 00 00 00 %s 00 00 00 00 00 00 00 00 00\n' "$3"
	for line in 6 7 8 9 a b c d e f; do
		printf '%s0: 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00\n' $line
	done
}

bytes() {
	words=$(sed 's/^..: //; s/\([0-9a-f][0-9a-f]\)/0x\1/g')
	printf "$(printf '\\%03o' $words)"
}

# A card that is well, but for what the arguments say.
card() { # ADDRESS ID DRIVER [BAR0-TOP [LINK]]
	at=$tree/bus/pci/devices/0000:$1
	mkdir -p "$at"
	echo 0x8086 >"$at/vendor"
	echo "0x$2" >"$at/device"
	echo 0x0b4000 >"$at/class"
	echo 16 >"$at/irq"
	start=0x000000${4-38}00000000
	end=0x000000${4-38}00000000
	[ "${4-38}" = 00 ] || end=$(printf '0x%016x' $((start + 0x1ffffffff)))
	{
		echo "$start $end 0x000000000014220c"
		for region in 1 2 3; do
			echo "0x0000000000000000 0x0000000000000000 0x0000000000000000"
		done
		echo "0x00000000f8000000 0x00000000f801ffff 0x0000000000140204"
		for region in 5 6; do
			echo "0x0000000000000000 0x0000000000000000 0x0000000000000000"
		done
	} >"$at/resource"
	config "$2" "${4-38}" "${5-02 01}" | bytes >"$at/config"
	[ "$3" = none ] && return
	mkdir -p "$tree/bus/pci/drivers/$3"
	ln -sfn "../../../../bus/pci/drivers/$3" "$at/driver"
}

driver() {
	mkdir -p "$tree/class/mic/ctrl" "$tree/class/mic/scif"
	echo 3.8.6-1 >"$tree/class/mic/ctrl/version"
	echo 1 >"$tree/class/mic/scif/watchdog_enabled"
	echo 30 >"$tree/class/mic/scif/watchdog_to"
	echo 1 >"$tree/class/mic/scif/watchdog_auto_reboot"
	nodes='/dev/mic/scif=knc1,/dev/scif=absent'
}

mic() { # N ADDRESS STATE SCIF-STATUS
	at=$tree/class/mic/mic$1
	mkdir -p "$at"
	ln -sfn "../../../bus/pci/devices/0000:$2" "$at/device"
	printf '%s' "$3" >"$at/state"
	echo "$4" >"$at/scif_status"
	echo x100 >"$at/family"
	echo C0 >"$at/stepping"
	echo 'C0PRQ-7120 P/A/X/D' >"$at/sku"
	echo 2.1.02.0391 >"$at/flashversion"
	echo 1.0 >"$at/interface_version"
}

# A machine with one card that is online.
healthy() { # ID
	machine
	driver
	card 02:00.0 "$1" mic
	mic 0 02:00.0 online online
}
