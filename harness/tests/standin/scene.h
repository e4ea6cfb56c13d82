/* SPDX-License-Identifier: BSD-2-Clause */
/* Plays one scene in the calling process and notes what became of its rows. */
#ifndef STANDIN_SCENE_H
#define STANDIN_SCENE_H

#include "script.h"

#define SCENE_CHILDREN 8

struct row_result {
	int held;   /* lines that came out as measured */
	int failed; /* lines that did not */
	char note[240];
};

/* Shared by the runner, the scene and its children. */
struct stage {
	struct {
		int line; /* the last one begun */
		int done; /* all lines of the child are through */
	} child[SCENE_CHILDREN];
	char broken[240]; /* why the set-up of the scene failed */
	int through;	  /* the scene came to its end */
	struct row_result row[];
};

/* Never comes back: the process ends with the scene. */
void scene_play(const struct script *script, int scene, struct stage *stage)
	__attribute__((noreturn));

#endif
