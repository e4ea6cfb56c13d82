# SPDX-License-Identifier: BSD-2-Clause
# judge.awk equivalent.tsv table.tsv verdicts...: what became of each mutant of the table, a line of docs/mutation.md's
# fields for each.

function add_mutant(row, id, status, clause, how, text, why) {
	print id, kind[row], api[row], name[row], status, clause, how, text, why
}

# The verdict of a clause that may count: of one that the right library passes.
function kills(row, clause) {
	return verdict[row, clause] == "FAIL" && verdict["base", clause] == "PASS"
}

function explain(row, clause) {
	return clause " " ((row, clause) in verdict ? verdict[row, clause] : "without a record") \
		(reason[row, clause] == "-" ? "" : " (" substr(reason[row, clause], 1, 100) ")") \
		(verdict["base", clause] == "PASS" ? "" : ", and the right library gets " \
			(("base", clause) in verdict ? verdict["base", clause] : "no verdict"))
}

# What became of a mutant that the first n of ids may kill.
function judge(row, mutant, ids, n,    i, best, why) {
	for (i = 1; i <= n; i++) {
		if (!kills(row, ids[i]))
			why = why (why == "" ? "" : "; ") explain(row, ids[i])
		else if (best == "" || (how[row, best] != "errno" && how[row, ids[i]] == "errno"))
			best = ids[i]
	}
	if (best != "")
		add_mutant(row, mutant, "killed", best, how[row, best], text[row], "-")
	else if (broken[row] != "")
		add_mutant(row, mutant, "broken", "-", "-", text[row], broken[row])
	else if (mutant in proof)
		add_mutant(row, mutant, "equivalent", "-", "-", text[row], proof[mutant])
	else if (kind[row] == "check" && verdict["base", ids[1]] == "UNTESTED")
		add_mutant(row, mutant, "untested", "-", "-", text[row], reason["base", ids[1]])
	else
		add_mutant(row, mutant, "survived", "-", "-", text[row], why)
}

BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 {
	if ($0 !~ /^#/ && NF == 2)
		proof[$1] = $2
	next
}
file == 2 {
	rows++
	id[rows] = $1
	kind[rows] = $2
	api[rows] = $3
	name[rows] = $4
	clauses[rows] = $7
	text[rows] = $8
	next
}
$2 == "-" {
	broken[$1] = $5
	next
}
{
	row = kind[$1] == "baseline" ? "base" : $1
	verdict[row, $2] = $3
	how[row, $2] = $4
	reason[row, $2] = $5
}
END {
	for (row = 1; row <= rows; row++) {
		n = split(clauses[row], ids, ",")
		if (kind[row] == "exempt")
			add_mutant(row, id[row], "exempt", clauses[row], "-", text[row], "-")
		else if (kind[row] == "check")
			# The check of one clause is missing: no other clause can say so.
			for (i = 1; i <= n; i++) {
				only[1] = ids[i]
				judge(row, ids[i] ":missing", only, 1)
			}
		else if (kind[row] != "baseline")
			judge(row, id[row], ids, n)
	}
}
