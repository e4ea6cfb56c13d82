# SPDX-License-Identifier: BSD-2-Clause
# change-source.awk -v name=N -v top=SOURCES -v folder=F source.txt: writes the changed copies of the files that mutant N
# changes below F and prints their names. What goes must be in a file exactly once.

function fail(text) {
	print "source.txt: " name ": " text >"/dev/stderr"
	failed = 1
	exit 1
}

function read_file(path,    line, text, status) {
	while ((status = (getline line <path)) > 0)
		text = text line "\n"
	close(path)
	if (status < 0)
		fail(path " cannot be read")
	return text
}

function change(    text, at, rest) {
	if (old == "")
		return
	text = file in changed ? changed[file] : read_file(top "/" file)
	at = index(text, old)
	rest = substr(text, at + length(old))
	if (!at || index(rest, old))
		fail(file (at ? " has more than once:" : " does not have:") "\n" old)
	changed[file] = substr(text, 1, at - 1) new rest
	old = new = ""
}

/^#/ { next }
/^= / {
	change()
	chosen = $2 == name
	found = found || chosen
	next
}
!chosen { next }
/^-/ {
	if (new != "")
		change()
	old = old substr($0, 2) "\n"
	next
}
/^\+/ {
	new = new substr($0, 2) "\n"
	next
}
{
	change()
	if ($0 != "")
		file = $0
}
END {
	if (failed)
		exit 1
	change()
	if (!found)
		fail("there is no such mutant")
	for (path in changed) {
		copy = folder "/" path
		folder_of_copy = copy
		sub(/\/[^\/]*$/, "", folder_of_copy)
		system("mkdir -p '" folder_of_copy "'")
		printf "%s", changed[path] >copy
		close(copy)
		print path
	}
}
