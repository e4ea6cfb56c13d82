#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# bench-targets.sh TABLE: the targets at the end of what scif-bench printed, as a table of the README.
set -eu
echo '| target | worst in that run | |'
echo '|---|---|---|'
# "  met|NOT MET|not measured  TARGET; WORST"
awk '
	/^targets$/ { inside = 1; next }
	inside && match($0, /^  (met|NOT MET|not measured) +/) {
		verdict = substr($0, 3, RLENGTH - 2)
		sub(/ +$/, "", verdict)
		rest = substr($0, RLENGTH + 1)
		worst = ""
		if (at = index(rest, "; ")) {
			worst = substr(rest, at + 2)
			rest = substr(rest, 1, at - 1)
		}
		print "| " rest " | " worst " | " verdict " |"
		rows++
	}
	END { exit !rows }' "$1"
