# SPDX-License-Identifier: BSD-2-Clause
# Of a table of mutants: for every function a row that is no mutant, with all the clauses that are to kill one.
BEGIN { FS = OFS = "\t" }
$2 == "exempt" { next }
{
	count = split($7, ids, ",")
	for (i = 1; i <= count; i++) {
		if (($3, ids[i]) in seen)
			continue
		seen[$3, ids[i]]
		# Some at a time, so that they spread over the jobs.
		number[$3, $4]++
		slice = number[$3, $4] / 40
		key = $3 OFS $4 OFS int(slice)
		clauses[key] = clauses[key] (key in clauses && clauses[key] != "" ? "," : "") ids[i]
	}
}
END {
	for (key in clauses) {
		split(key, part, OFS)
		print part[2] ":none:" part[3], "baseline", part[1], part[2], "-", "none", clauses[key], "nothing is wrong"
	}
}
