# SPDX-License-Identifier: BSD-2-Clause
# merge.awk table.tsv new.tsv old.tsv: the new lines, and those of the old ones whose mutants are still in the table.
BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 {
	if ($2 != "check") {
		due[$1]
		next
	}
	count = split($7, ids, ",")
	for (i = 1; i <= count; i++)
		due[ids[i] ":missing"]
	next
}
file == 2 { new[$1] }
file == 2 || (!($1 in new) && $1 in due)
