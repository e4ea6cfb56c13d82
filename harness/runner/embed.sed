# SPDX-License-Identifier: BSD-2-Clause
# Lines of text as lines of a string in C.
s/\\/\\\\/g
s/"/\\"/g
s/^/\t"/
s/$/\\n"/
