#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# Every report of a fault can be run by its id, in each of its APIs, and has a case there that is not long; a scenario
# that bears an id in its name is that of a clause of the report. That ids exist and are used the spec compiler sees to.
set -u
status=0

list() {
	"$top_builddir/harness/runner/scif-cts" list clauses --api "$1" >"$work/$1" || exit 1
}

work=$(mktemp -d) || exit 99
trap 'rm -rf "$work"' EXIT
list scif
list rsm

awk -F '\t' '
FILENAME ~ /reports\.yaml$/ {
	if (match($0, /id: [A-Z0-9]+/)) {
		id = substr($0, RSTART + 4, RLENGTH - 4)
		match($0, /apis: \[[^]]*/)
		apis[id] = " " substr($0, RSTART + 7, RLENGTH - 7) " "
		gsub(/,/, "", apis[id])
	}
	next
}
FNR > 1 {
	api = FILENAME
	sub(/.*\//, "", api)
	count = split($8, ids, " ")
	for (i = 1; i <= count; i++) {
		if (!index(apis[ids[i]], " " api " ")) {
			print $1 " has the report " ids[i] ", which does not name " api
			bad = 1
		}
		shorts[ids[i], api] += $4 == "short"
	}
}
END {
	for (id in apis) {
		known++
		count = split(apis[id], names, " ")
		for (i = 1; i <= count; i++)
			if (!shorts[id, names[i]]) {
				print id " has no short case in " names[i]
				bad = 1
			}
	}
	if (!known) print "no report was found"
	exit bad || !known
}' "$top_srcdir/spec/reports.yaml" "$work/scif" "$work/rsm" || status=1

awk '
/^  - id: / { reports = "" }
/^    reports: / { reports = $0 }
/^    scenario: [brx][0-9][0-9]_/ {
	id = toupper(substr($2, 1, 3))
	if (!index(reports, id)) {
		print FILENAME ":" FNR ": " $2 " is of no clause with reports: [" id "]"
		bad = 1
	}
	seen++
}
END {
	if (!seen) print "no scenario has an id in its name"
	exit bad || !seen
}' "$top_srcdir"/spec/scif/*.yaml "$top_srcdir"/spec/rsm/*.yaml || status=1

exit $status
