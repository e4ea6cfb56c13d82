# SPDX-License-Identifier: BSD-2-Clause
# environment.awk environment.mdoc PAGE: the page, with the variables that it names between its marks as the fragment
# has them. A name that the fragment lacks ends it with status 1.

FNR == NR {
	if (/^\.It Ev /)
		name = $3
	if (name)
		text[name] = text[name] $0 "\n"
	next
}
/^\.\\" environment: end$/ { inside = 0 }
!inside
/^\.\\" environment: [A-Z]/ {
	inside = 1
	for (i = 3; i <= NF; i++) {
		if (!($i in text)) {
			print FILENAME ": no " $i " in the fragment" >"/dev/stderr"
			missing = 1
		}
		printf "%s", text[$i]
	}
}
END { exit missing + inside }
