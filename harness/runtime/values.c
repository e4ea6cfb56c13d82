/* SPDX-License-Identifier: BSD-2-Clause */
/* Variables with a value. */
#include "engine.h"

int cts_fx_integer(int value)
{
	return value;
}

off_t cts_fx_offset(off_t value)
{
	return value;
}

size_t cts_fx_length(size_t value)
{
	return value;
}

uint64_t cts_fx_word(uint64_t value)
{
	return value;
}
