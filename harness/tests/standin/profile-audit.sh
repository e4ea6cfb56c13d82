#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# The profile knc against the measurements: every departure of the driver has an entry tagged `observed` or a
# reason why none is needed, and every entry tagged `observed` rests on a row.
set -u
here=$top_srcdir/harness/tests/standin
profile=$top_srcdir/spec/profiles/knc.yaml

exec awk '
function wrong(text) { print FILENAME ":" FNR ": " text; bad++ }

# Of observed.rows: how many rows a group has.
FILENAME ~ /observed\.rows$/ { if ($1 == "group") rows[$2] = $3; next }

# Of the profile: which clauses are changed for an observation.
FILENAME ~ /knc\.yaml$/ {
	if ($1 == "-" && $2 == "clause:") clause = $3
	if ($1 == "tag:") { tag[clause] = $2; changed += $2 == "observed" }
	next
}

/^#/ || /^$/ { next }
{
	colon = index($0, ":")
	split(substr($0, 1, colon - 1), head, " ")
	if (colon == 0 || !(head[1] in rows)) { wrong("no group of that name"); next }
	count = split(head[2], ranges, ",")
	for (i = 1; i <= count; i++) {
		ends = split(ranges[i], end, "-")
		if (end[1] < 1 || end[ends] > rows[head[1]] || end[ends] + 0 < end[1] + 0)
			wrong("the group has no rows " ranges[i])
	}
	departures++
	words = split(substr($0, colon + 1), word, " ")
	if (word[1] == "-") {
		if (words < 4) wrong("a reason is missing")
		next
	}
	if (words == 0) wrong("neither clauses nor a reason")
	for (i = 1; i <= words; i++) {
		cited[word[i]] = 1
		if (tag[word[i]] == "") wrong("the profile has no entry for " word[i])
		else if (tag[word[i]] != "observed")
			wrong(word[i] " is tagged " tag[word[i]] " in the profile, but was observed")
	}
}
END {
	for (clause in tag) {
		if (tag[clause] == "observed" && !(clause in cited)) {
			print clause " is tagged observed, but departures.rows names no row for it"
			bad++
		}
	}
	if (departures == 0 || changed == 0) { print "nothing was compared"; bad++ }
	printf "%d departures, %d entries tagged observed, %d wrong\n", departures, changed, bad
	exit bad > 0
}' "$here/observed.rows" "$profile" "$here/departures.rows"
