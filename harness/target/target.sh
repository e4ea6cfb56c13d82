#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# target.sh [hw|hw-loopback|embedded]: what the suite runs against on this machine, or whether it can run
# against what is named. Prints one line of words
#	TARGET NODE CARD PROVIDER REASON...
# `hw`: a card that is online is the other node, CARD micN on NODE N+1. `hw-loopback`: a card's driver answers; the
# peer is on node 0 as well. `embedded`: the embedded provider. What does not apply is `-`. A target that is
# named but absent ends with status 1 after one line on stderr.
#
# KNC_INFO is the built knc-info. Without it (at ./configure) the same files are looked at, less closely.
# CARD chooses among several cards.
set -u
wanted=${1:-}
card=${CARD:-}
sysfs=${SCIF_SYSFS_ROOT:-/sys}
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT

# --- what there is: $work/cards has a line "NODE micN" for each card that can be used ---

ask_knc_info() {
	"$KNC_INFO" >"$work/info" 2>/dev/null
	state=$(tail -n 1 "$work/info")
	family=$(sed -n 's/^device node  *.*: \(knc\|mpss4\)$/\1/p' "$work/info")
	# "... with node 1 (mic0), node 2 (mic1), not with mic2: its state is ..."
	usable=${state#SCIF can be used with}
	[ "$usable" != "$state" ] || return 0
	printf '%s\n' "${usable%%, not with*}" | tr ',' '\n' |
		sed -n 's/^ *node \([0-9][0-9]*\) (\(mic[0-9][0-9]*\)).*$/\1 \2/p' >"$work/cards"
}

# A driver's device node is one that can be opened: where no driver is behind it, that fails.
look_for_driver() {
	family=
	for node in ${SCIF_HW_DEVICE:-/dev/mic/scif /dev/scif}; do
		[ -c "$node" ] && (: <>"$node") 2>/dev/null || continue
		case $node in
		/dev/scif) family=mpss4 ;;
		*) family=knc ;;
		esac
		return
	done
}

is_online() { # FILE
	[ -r "$1" ] && [ "$(tr -d '\n' <"$1")" = online ]
}

look_at_files() {
	look_for_driver
	state="${SCIF_HW_DEVICE:-/dev/mic/scif} is no driver's device node"
	[ -n "$family" ] || return 0
	state="a card's driver answers, no card is online"
	for folder in "$sysfs"/class/mic/mic[0-9]*; do
		is_online "$folder/state" || continue
		[ ! -e "$folder/scif_status" ] || is_online "$folder/scif_status" || continue
		name=${folder##*/}
		echo "$((${name#mic} + 1)) $name" >>"$work/cards"
	done
}

has_cards() {
	ls -d "$sysfs"/class/mic/mic[0-9]* >/dev/null 2>&1
}

# --- the choice ---

refuse() {
	echo "target: $1" >&2
	exit 1
}

hw() { # REASON
	[ -z "$card" ] || grep " $card\$" "$work/cards" >"$work/chosen" || refuse "CARD=$card: $card cannot be used: $state"
	[ -n "$card" ] || head -n 1 "$work/cards" >"$work/chosen"
	read -r node name <"$work/chosen"
	echo "hw $node $name hw:$family $1"
}

loopback() {
	echo "hw-loopback 0 - hw:$family $1"
}

: >"$work/cards"
if [ -n "${KNC_INFO:-}" ]; then
	[ -x "$KNC_INFO" ] || refuse "there is no $KNC_INFO"
	ask_knc_info
else
	look_at_files
fi

case $wanted in
hw)
	[ -s "$work/cards" ] || refuse "TARGET=hw: no card can be used: $state"
	hw "as named"
	;;
hw-loopback)
	[ -n "$family" ] || refuse "TARGET=hw-loopback: no driver answers: $state"
	loopback "as named"
	;;
embedded) echo "embedded 0 - embedded as named" ;;
'')
	if [ -s "$work/cards" ]; then
		hw "a card is online"
	elif [ -n "$family" ] && ! has_cards; then
		loopback "a card's driver answers, but there is no card"
	else
		echo "embedded 0 - embedded $state"
	fi
	;;
*) refuse "TARGET=$wanted: the choice is hw, hw-loopback or embedded" ;;
esac
