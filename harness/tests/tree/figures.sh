#!/bin/sh
# SPDX-License-Identifier: BSD-2-Clause
# figures.sh RESULTS: what was measured of the suite itself, from the files of that folder, as the README's table.
set -eu
results=$1

# row WHAT FIGURE COMMAND
row() {
	echo "| $1 | $2 | \`$3\` |"
}
# all API FIRST-COLUMN...: of the API's last line in the table of spec-coverage, the sum of these columns.
all() {
	api=$1
	shift
	awk -v api="$api" -v columns="$*" '
		/, observed in / { current = $1; sub(/,/, "", current) }
		$1 == "all" && current == api {
			count = split(columns, column)
			for (i = 1; i <= count; i++)
				sum += $column[i]
			print sum
		}' "$results/coverage/spec-coverage.txt"
}

echo '| measured | figure | made by |'
echo '|---|---|---|'
row 'mutants killed by the clause that they violate' \
	"$(sed -n '1s/ mutants killed.*//p' "$results/mutation/summary.txt")" 'make mutation'
for api in scif rsm; do
	name=SCIF
	[ $api = scif ] || name=RSMAPI
	row "$name: documented values and errors observed" \
		"$(all $api 4 8) of $(all $api 2 6), $(all $api 5 9) ruled out" 'make spec-coverage'
	row "$name: clauses observed" \
		"$(all $api 12) of $(all $api 10), $(all $api 11) have a case, $(all $api 13) ruled out" 'make spec-coverage'
done
# "FOLDER  N of M, P %  N of M, P %": lines and functions.
awk '$1 ~ /\// { print }' "$results/coverage/summary.txt" | while read -r folder lines of all percent sign functions _ all_functions _; do
	row "lines of \`$folder\` run" "$lines $of $all $percent $sign; functions $functions of ${all_functions%,}" 'make coverage'
done
