# SPDX-License-Identifier: BSD-2-Clause
# report.awk -v folder=F -v seconds=N equivalent.tsv table.tsv verdicts...: F/mutants.tsv, a line per mutant, and
# F/summary.txt, survivors first.  Exit status 1 when a mutant survived or could not be judged.

function add_mutant(id, kind, api, name, status, clause, how, text) {
	mutants++
	line[mutants] = id OFS kind OFS api OFS name OFS status OFS clause OFS how OFS text
	group = kind " " api
	if (!(group in total))
		groups[++group_count] = group
	total[group]++
	count[group, status]++
	by_status[status]++
	if (status == "killed")
		by_kind[how]++
	if (status == "survived" || status == "broken")
		alive = alive sprintf("  %-9s %s: %s\n            %s\n", status, id, text, why)
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

function judge_any(row, ids, n,    i, best, explained) {
	for (i = 1; i <= n; i++) {
		if (!kills(row, ids[i]))
			explained = explained (explained == "" ? "" : "; ") explain(row, ids[i])
		else if (best == "" || (how[row, best] != "errno" && how[row, ids[i]] == "errno"))
			best = ids[i]
	}
	why = broken[row] != "" ? broken[row] : explained
	if (best != "")
		add_mutant(id[row], kind[row], api[row], name[row], "killed", best, how[row, best], text[row])
	else if (broken[row] != "")
		add_mutant(id[row], kind[row], api[row], name[row], "broken", "-", "-", text[row])
	else if (id[row] in proof)
		add_mutant(id[row], kind[row], api[row], name[row], "equivalent", "-", "-", proof[id[row]])
	else
		add_mutant(id[row], kind[row], api[row], name[row], "survived", "-", "-", text[row])
}

# The check of one clause is missing: no other clause can say so.
function judge_check(row, clause,    mutant) {
	mutant = clause ":missing"
	why = broken[row] != "" ? broken[row] : explain(row, clause)
	if (kills(row, clause))
		add_mutant(mutant, kind[row], api[row], name[row], "killed", clause, how[row, clause], text[row])
	else if (broken[row] != "")
		add_mutant(mutant, kind[row], api[row], name[row], "broken", "-", "-", text[row])
	else if (mutant in proof)
		add_mutant(mutant, kind[row], api[row], name[row], "equivalent", "-", "-", proof[mutant])
	else if (verdict["base", clause] == "UNTESTED")
		add_mutant(mutant, kind[row], api[row], name[row], "untested", "-", "-", text[row])
	else
		add_mutant(mutant, kind[row], api[row], name[row], "survived", "-", "-", text[row])
}

function number(group, status) {
	return count[group, status] + 0
}

BEGIN { FS = OFS = "\t" }
FNR == 1 { file++ }
file == 1 {
	if ($0 !~ /^#/ && NF == 2) {
		proof[$1] = $2
		proofs++
	}
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
			add_mutant(id[row], kind[row], api[row], name[row], "exempt", clauses[row], "-", text[row])
		else if (kind[row] == "check")
			for (i = 1; i <= n; i++)
				judge_check(row, ids[i])
		else if (kind[row] != "baseline")
			judge_any(row, ids, n)
	}
	file = folder "/mutants.tsv"
	print "# scif-cts-mutation/1" >file
	print "# id, kind, api, function, status, clause, how, text" >file
	for (status = 1; status <= 2; status++)
		for (i = 1; i <= mutants; i++) {
			split(line[i], field, OFS)
			if ((field[5] == "survived" || field[5] == "broken") == (status == 1))
				print line[i] >file
		}
	summary = folder "/summary.txt"
	judged = by_status["killed"] + by_status["survived"] + by_status["broken"]
	printf "%d of %d mutants killed by the clause that they violate, %d survived, %d could not be judged\n\n",
		by_status["killed"], judged, by_status["survived"], by_status["broken"] >summary
	if (alive != "")
		printf "Survivors, and what their clauses said\n%s\n", alive >summary
	printf "%-12s %8s %8s %9s %7s %11s %9s %7s\n", "kind", "mutants", "killed", "survived", "broken", "equivalent",
		"untested", "exempt" >summary
	for (i = 1; i <= group_count; i++)
		printf "%-12s %8d %8d %9d %7d %11d %9d %7d\n", groups[i], total[groups[i]], number(groups[i], "killed"),
			number(groups[i], "survived"), number(groups[i], "broken"), number(groups[i], "equivalent"),
			number(groups[i], "untested"), number(groups[i], "exempt") >summary
	printf "\nWhat the killing verdicts were: value %d, errno %d, side effect %d, crash %d, timeout %d\n",
		by_kind["value"], by_kind["errno"], by_kind["side effect"], by_kind["crash"], by_kind["timeout"] >summary
	printf "Time: %d s\n", seconds >summary
	if (proofs > 5) {
		printf "equivalent.tsv has %d entries; five are allowed\n", proofs >summary
		exit 1
	}
	exit by_status["survived"] + by_status["broken"] > 0
}
