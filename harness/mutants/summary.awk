# SPDX-License-Identifier: BSD-2-Clause
# summary.awk mutants.tsv: the same for people, survivors first. Exit status 1 when a mutant survived or could not be
# judged, or when more than five are said to be equivalent.

function number(group, status) {
	return count[group, status] + 0
}

BEGIN { FS = "\t" }
/^#/ { next }
{
	group = $2 " " $3
	if (!(group in total))
		groups[++group_count] = group
	total[group]++
	count[group, $5]++
	all[$5]++
}
$5 == "killed" { by[$7]++ }
$5 == "survived" || $5 == "broken" { alive = alive sprintf("  %-9s %s: %s\n            %s\n", $5, $1, $8, $9) }
$5 == "equivalent" { proofs = proofs sprintf("  %s: %s\n    %s\n", $1, $8, $9) }
$5 == "untested" { untested = untested sprintf("  %s: %s\n", $1, $9) }
$5 == "exempt" { exempt = exempt sprintf("  %s: %s\n", $1, $8) }
END {
	judged = all["killed"] + all["survived"] + all["broken"]
	printf "%d of %d mutants killed by the clause that they violate, %d survived, %d could not be judged\n\n",
		all["killed"], judged, all["survived"], all["broken"]
	if (alive != "")
		printf "Survivors, and what their clauses said\n%s\n", alive
	printf "%-12s %8s %8s %9s %7s %11s %9s %7s\n", "kind", "mutants", "killed", "survived", "broken", "equivalent",
		"untested", "exempt"
	for (i = 1; i <= group_count; i++)
		printf "%-12s %8d %8d %9d %7d %11d %9d %7d\n", groups[i], total[groups[i]], number(groups[i], "killed"),
			number(groups[i], "survived"), number(groups[i], "broken"), number(groups[i], "equivalent"),
			number(groups[i], "untested"), number(groups[i], "exempt")
	printf "\nWhat the killing verdicts were: value %d, errno %d, side effect %d, crash %d, timeout %d\n",
		by["value"], by["errno"], by["side effect"], by["crash"], by["timeout"]
	if (proofs != "")
		printf "\nEquivalent to a right library\n%s", proofs
	if (untested != "")
		printf "\nNot tested, and why\n%s", untested
	if (exempt != "")
		printf "\nExempt: no clause can be run\n%s", exempt
	exit all["survived"] + all["broken"] > 0 || all["equivalent"] > 5
}
