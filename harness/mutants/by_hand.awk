# SPDX-License-Identifier: BSD-2-Clause
# Rows of the table of mutants for by_hand.tsv: id, api, wrapped or source, clauses, text.
BEGIN { FS = OFS = "\t" }
/^#/ || $0 == "" { next }
NF != 5 || ($3 != "wrapped" && $3 != "source") {
	print FILENAME ":" FNR ": not id, api, wrapped or source, clauses, text" >"/dev/stderr"
	exit 1
}
{ print $1, "by-hand", $2, "-", "-", ($3 == "source" ? "source:" : "") $1, $4, $5 }
