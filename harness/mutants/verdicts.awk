# SPDX-License-Identifier: BSD-2-Clause
# Of a TAP stream of scif-cts: row, clause, verdict, kind, reason, a line per clause.
function finish() {
	if (clause != "")
		print row, clause, verdict, kind, reason
	clause = ""
}
BEGIN { OFS = "\t" }
/^ok / {
	finish()
	reason = $0
	sub(/^.*# SKIP [A-Z]*:? */, "", reason)
	print row, $4, ($5 == "#" ? "UNTESTED" : "PASS"), "-", ($5 == "#" ? reason : "-")
}
/^# (FAIL|UNRESOLVED|NOTRUN) / {
	finish()
	verdict = $2
	clause = $3
	kind = reason = "-"
}
/^#   / && clause != "" {
	text = substr($0, 5)
	gsub(/\t/, " ", text)
	if (verdict == "FAIL" && kind == "-")
		kind = text
	else
		reason = text
}
END { finish() }
