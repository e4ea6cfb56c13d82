# SPDX-License-Identifier: BSD-2-Clause
# Reads a tracefile of lcov's format. Writes of what lies in ref/, separated by tabs, a row per function
# (function, file, name, times) and per line (line, file, name of its function, times, text).
# The name at the end of a line. A static function has its file's name before its own, an inline one of a header several.
function own_name(text) {
	sub(/^[^,]*,/, "", text)
	sub(/^.*:/, "", text)
	return text
}

/^SF:/ {
	path = substr($0, 4)
	file = path
	sub(/^.*\/ref\//, "ref/", file)
	split("", name_at)
	split("", times_of)
	split("", text)
	for (last = 0; (getline line <path) > 0;)
		text[++last] = line
	close(path)
	next
}
/^FN:/ {
	name_at[substr($0, 4) + 0] = own_name($0)
	next
}
/^FNDA:/ {
	times_of[own_name($0)] += substr($0, 6) + 0
	next
}
/^DA:/ {
	split(substr($0, 4), da, ",")
	count_at[da[1]] = da[2]
	next
}
/^end_of_record/ && file !~ /^ref\// { split("", count_at) }
/^end_of_record/ && file ~ /^ref\// {
	for (name in times_of)
		printf "function\t%s\t%s\t%s\n", file, name, times_of[name]
	function_name = "-"
	for (at = 1; at <= last; at++) {
		if (at in name_at)
			function_name = name_at[at]
		if (!(at in count_at))
			continue
		gsub(/[ \t]+/, " ", text[at])
		sub(/^ /, "", text[at])
		printf "line\t%s\t%s\t%s\t%s\n", file, function_name, count_at[at], text[at]
	}
	split("", count_at)
}
