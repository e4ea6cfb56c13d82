# SPDX-License-Identifier: BSD-2-Clause
# explained.awk uncovered.md ROWS: are the lines that were not run (rows of lines.awk) just those that uncovered.md
# explains? Prints those without an explanation as they would stand there, and explanations of what was run or is not
# there. In uncovered.md they stand between ``` and ```: "FILE: FUNCTION", then the text of each line after a tab. Under a
# heading that begins with "Either way" stand those that one run meets and another does not.
function key(file, name, text) {
	gsub(/[ \t]+/, " ", text)
	gsub(/^ | $/, "", text)
	return file SUBSEP name SUBSEP text
}
# A brace by itself, or an else, goes with what is around it.
function says_nothing(text) {
	return text ~ /^[][{}();, ]*(else)?[ {]*$/
}
FNR == NR && /^## / { either_way = /^## Either way/ }
FNR == NR && /^```/ { inside = !inside; next }
FNR == NR && inside && /^[^\t]/ { split($0, place, ": "); next }
FNR == NR && inside && /^\t/ {
	k = key(place[1], place[2], $0)
	if (either_way)
		may[k]++
	else
		explained[k]++
	line_of[k] = FNR
	next
}
FNR == NR { next }
{ split($0, row, "\t") }
row[1] != "line" { next }
{
	k = key(row[2], row[3], row[5])
	known[k]++
	if (row[4] > 0 || says_nothing(row[5]))
		next
	if (explained[k] > 0) {
		explained[k]--
	} else if (may[k] > 0) {
		may[k]--
	} else {
		if (row[2] SUBSEP row[3] != last)
			printf "%s: %s\n", row[2], row[3]
		last = row[2] SUBSEP row[3]
		printf "\t%s\n", row[5]
		wrong++
	}
}
END {
	if (wrong)
		printf "not run, and uncovered.md does not say why: %d lines\n", wrong
	for (k in line_of) {
		split(k, part, SUBSEP)
		if (!known[k])
			why = "is not there"
		else if (explained[k] > 0)
			why = "was run"
		else
			continue
		printf "uncovered.md:%d: %s: %s: %s: %s\n", line_of[k], part[1], part[2], part[3], why
		wrong++
	}
	exit wrong > 0
}
