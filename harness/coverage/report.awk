# SPDX-License-Identifier: BSD-2-Clause
# Reads the rows of lines.awk. Prints a line per folder, writes the same to the file json. The status is 1 where less
# than 97 % of the lines or not every function of a folder was run.
BEGIN { FS = "\t"; count = split(folders, folder, " ") }
{
	for (i = 1; i <= count; i++) {
		if (index($2, folder[i] "/") != 1)
			continue
		of[i, $1]++
		run[i, $1] += $4 > 0
	}
}
function percent(i, what) {
	return of[i, what] ? 100 * run[i, what] / of[i, what] : 0
}
# Rounded down: not before everything was run it says 100.
function figure(i, what) {
	return sprintf("%d of %d, %.1f %%", run[i, what], of[i, what], int(10 * percent(i, what)) / 10)
}
END {
	printf "%-14s %-26s %s\n", "folder", "lines run", "functions run"
	printf "{\n \"format\": \"line-coverage/1\",\n \"folders\": [\n" >json
	for (i = 1; i <= count; i++) {
		printf "%-14s %-26s %s\n", folder[i], figure(i, "line"), figure(i, "function")
		printf "  {\"folder\": \"%s\", \"lines\": %d, \"lines_run\": %d, \"functions\": %d, \"functions_run\": %d}%s\n",
			folder[i], of[i, "line"], run[i, "line"], of[i, "function"], run[i, "function"],
			i < count ? "," : "" >json
		low += percent(i, "line") < 97 || run[i, "function"] != of[i, "function"] || !of[i, "line"]
	}
	printf " ]\n}\n" >json
	exit low > 0
}
