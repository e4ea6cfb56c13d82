# SPDX-License-Identifier: BSD-2-Clause
# usage.awk [-v form=c] PAGE: what a tool says of its usage, from its manual page, which is the only place that has it.
# The lines of the synopsis; of each command and each option (the items of the first list behind "The commands are:"
# and "The options are:") the first sentence; of each exit status the first sentence. With form=c as macros of C.

function is_macro(word)
{
	return word ~ /^(Ar|Cm|Em|Er|Ev|Fl|Fn|Li|Nm|No|Ns|Op|Oo|Oc|Pa|Pc|Pf|Po|Pq|Ql|Qq|Va|Xr)$/
}

# Adds a word to the line that is being made; what closes, or follows without a space, joins the word before.
function add(word)
{
	if (line != "" && !joins && word !~ /^[])}.,;:?!]+$/)
		line = line " "
	line = line word
	joins = word ~ /[[({]$/
}

function enclose(open, close_)
{
	add(open)
	joins = 1
	closers = close_ closers
}

# What encloses ends with its line, before the punctuation there.
function shut(    rest)
{
	rest = ""
	if (closers != "" && line !~ /\.\.$/ && match(line, / ?[.,;:]$/)) {
		rest = substr(line, RSTART)
		sub(/^ /, "", rest)
		line = substr(line, 1, RSTART - 1)
	}
	line = line closers rest
	closers = ""
}

function argument(word, mode, dashes)
{
	if (word ~ /^[][(){}.,;:|?!]+$/)
		add(word)
	else if (mode == "Ar")
		add(word == "..." ? word : toupper(word))
	else if (mode == "Fl")
		add(dashes word)
	else if (mode == "Xr")
		add(word ~ /^[0-9]$/ ? "(" word ")" : word)
	else
		add(word)
}

# The text of a line of the page, behind what is in line already.
function render(text,    words, count, i, mode, dashes)
{
	sub(/^\./, "", text)
	gsub(/\\&/, "", text)
	count = split(text, words, /[ \t]+/)
	mode = dashes = ""
	for (i = 1; i <= count; i++) {
		if (!is_macro(words[i])) {
			if (mode == "Xr" && words[i] ~ /^[0-9]$/)
				joins = 1
			argument(words[i], mode, dashes)
			if (mode == "Pf") {
				joins = 1
				mode = ""
			}
			continue
		}
		dashes = words[i] != "Fl" ? "" : words[i - 1] == "Fl" ? dashes "-" : "-"
		mode = words[i]
		if (mode == "Op" || mode == "Oo")
			enclose("[", mode == "Op" ? "]" : "")
		else if (mode == "Oc" || mode == "Pc")
			add(mode == "Oc" ? "]" : ")")
		else if (mode == "Pq" || mode == "Po")
			enclose("(", mode == "Pq" ? ")" : "")
		else if (mode == "Ql")
			enclose("'", "'")
		else if (mode == "Qq")
			enclose("\"", "\"")
		else if (mode == "Ns")
			joins = 1
		else if (mode == "Nm" && (i == count || is_macro(words[i + 1])))
			add(program)
	}
	shut()
}

function rendered(text)
{
	line = closers = ""
	joins = 0
	render(text)
	gsub(/ \| /, "|", line)
	return line
}

# "The node." becomes "the node"; a name keeps its capitals.
function phrase(sentence)
{
	sub(/\.$/, "", sentence)
	return sentence ~ /^[A-Z][a-z]*( |$)/ ? tolower(substr(sentence, 1, 1)) substr(sentence, 2) : sentence
}

function finish_item()
{
	if (in_item)
		text_of[list, count_of[list]] = phrase(sentence)
	in_item = 0
}

function begin_item(head)
{
	finish_item()
	count_of[list]++
	head_of[list, count_of[list]] = rendered(head)
	sentence = ""
	in_item = 1
	sentence_ended = 0
}

/^\.Nm / && !program { program = $2 }

/^\.Sh / {
	finish_item()
	section = substr($0, 5)
	list = section == "EXIT STATUS" ? "status" : ""
	next
}

/^\.\\"/ { next }

section == "SYNOPSIS" {
	if (/^\.Nm/)
		synopses++
	line = synopsis[synopses]
	closers = ""
	joins = 0
	render($0)
	synopsis[synopses] = line
	next
}

/^The commands are:$/ { list = "command" }
/^The options are:$/ { list = "option" }
/^\.Bl / {
	depth++
	if (list && depth == 1 && list in count_of && list != "status")
		list = ""
	next
}
/^\.El/ {
	if (--depth == 0) {
		finish_item()
		list = ""
	}
	next
}
list && depth == 1 && /^\.It / {
	begin_item(substr($0, 5))
	next
}
in_item && depth == 1 && !sentence_ended && !/^\.Pp/ {
	line = sentence
	closers = ""
	joins = 0
	render($0)
	sentence = line
	sentence_ended = /\.$/
}

function quoted(text)
{
	gsub(/\\/, "\\\\", text)
	gsub(/"/, "\\\"", text)
	return "\"" text "\""
}

function say(text)
{
	if (form == "c")
		printf " \\\n\t%s", quoted(text) " \"\\n\""
	else
		print text
}

function say_synopsis(    i, text)
{
	for (i = 1; i <= synopses; i++) {
		text = synopsis[i]
		gsub(/ \| /, "|", text)
		say((i == 1 ? "usage: " : "       ") text)
	}
}

# The items of a list in two columns.
function say_list(which,    i, width)
{
	width = 0
	for (i = 1; i <= count_of[which]; i++)
		if (length(head_of[which, i]) > width)
			width = length(head_of[which, i])
	for (i = 1; i <= count_of[which]; i++)
		say(sprintf("  %-" width "s  %s", head_of[which, i], text_of[which, i]))
}

function say_statuses()
{
	say("")
	say("exit status:")
	say_list("status")
}

# The synopses and the summary of one command, as an initialiser.
function define_command(i,    s, name, text)
{
	name = head_of["command", i]
	printf " \\\n\t{%s, \"usage:", quoted(name)
	text = ""
	for (s = 1; s <= synopses; s++)
		if (index(synopsis[s] " ", program " " name " ") == 1) {
			gsub(/ \| /, "|", synopsis[s])
			text = text (text == "" ? " " : "       ") synopsis[s] "\\n"
		}
	printf "%s\", %s},", text, quoted(text_of["command", i])
}

function say_all()
{
	say_synopsis()
	if (count_of["command"]) {
		say("")
		say_list("command")
	}
	say("")
	say_list("option")
	say_statuses()
}

END {
	finish_item()
	if (form != "c") {
		say_all()
		exit
	}
	print "/* From the manual page of " program " by docs/usage.awk. */"
	printf "#define USAGE_TEXT"
	say_all()
	printf "\n#define USAGE_COMMANDS \"\""
	say_list("command")
	printf "\n#define USAGE_OPTIONS"
	say_list("option")
	printf "\n#define USAGE_STATUSES"
	say_statuses()
	printf "\n#define USAGE_OF_COMMANDS"
	for (number = 1; number <= count_of["command"]; number++)
		define_command(number)
	print ""
}
