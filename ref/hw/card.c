/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Cards and the names they go by.
 */
#include <stdlib.h>

#include "card.h"

const char *card_products(uint16_t device_id)
{
	/* As the driver groups them; it knows no other id. */
	static const char *const products[] = {
		"5110P, 5120D, 5140", /* 0x2250 */
		"pre-production A",
		"pre-production A",
		"pre-production A or B",
		"not used",
		"pre-production A",
		"pre-production A",
		"pre-production A",
		"early B, SKU 1",
		"SKU 3",
		"SKU 4",
		"SKU 3 variant",
		"SE10, 7110, 7120",
		"3110P, 3115A, 3120",
		"31S1P", /* 0x225e */
	};

	if (device_id < 0x2250 || device_id > 0x225e)
		return NULL;
	return products[device_id - 0x2250];
}

struct card *machine_add(struct machine *machine)
{
	struct card *cards;

	if (machine->count == CARDS_MAX)
		return NULL;
	cards = realloc(machine->cards, (machine->count + 1) * sizeof(*cards));
	if (cards == NULL)
		return NULL;
	machine->cards = cards;
	cards[machine->count] = (struct card){.mic = MIC_NONE};
	return &cards[machine->count++];
}
