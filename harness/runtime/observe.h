/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The raw log of a case (docs/certificate.md): every call that the case made and everything that
 * was looked at, kept in memory that the processes of the case share, and written as one line by
 * the process that watches over it. Without CTS_OBSERVATIONS nothing is kept.
 */
#ifndef CTS_OBSERVE_H
#define CTS_OBSERVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls of the implementation, by the wrappers that the spec compiler emits (calls.c). */

enum observed_class {
	OBSERVED_NUMBER,
	OBSERVED_POINTER,
	OBSERVED_ENDPOINT,
	OBSERVED_ENDPOINT_MADE, /* a pointer to where a successful call leaves one */
	/* Pointers behind which the log looks. */
	OBSERVED_PORT,
	OBSERVED_INT,
	OBSERVED_ID,
	OBSERVED_SHORT,
	OBSERVED_SHORTS, /* as many as the call returns, and no more than the next argument says */
	OBSERVED_POLL,	 /* as many as the next argument says */
	OBSERVED_TRANSFERS,
	OBSERVED_ACCESS,  /* as many as the next argument says */
	OBSERVED_POLLFDS, /* as many as the next argument says */
	OBSERVED_POLLFD_MADE,
	OBSERVED_TOPOLOGY,
	OBSERVED_NAME,
	/* An address or a handle that is of interest by itself; a place where a call leaves one. */
	OBSERVED_ADDRESS,
	OBSERVED_ADDRESS_MADE
};

/* Of an argument whose type says it: a pointer is none of these. */
#define OBSERVED_CLASS(argument)                                                                   \
	_Generic((argument), char                                                                  \
		 : OBSERVED_NUMBER, signed char                                                    \
		 : OBSERVED_NUMBER, unsigned char                                                  \
		 : OBSERVED_NUMBER, short                                                          \
		 : OBSERVED_NUMBER, unsigned short                                                 \
		 : OBSERVED_NUMBER, int                                                            \
		 : OBSERVED_NUMBER, unsigned                                                       \
		 : OBSERVED_NUMBER, long                                                           \
		 : OBSERVED_NUMBER, unsigned long                                                  \
		 : OBSERVED_NUMBER, long long                                                      \
		 : OBSERVED_NUMBER, unsigned long long                                             \
		 : OBSERVED_NUMBER, default                                                        \
		 : OBSERVED_POINTER)

struct observed_argument {
	enum observed_class is;
	const char *name; /* of the parameter */
	intptr_t value;
};

#define OBSERVED_ARGUMENTS 8

/* Before the call; what observe_return() is told. NULL where nothing is kept. Neither changes
 * errno. */
struct observed_call;
struct observed_call *observe_call(const char *function, enum observed_class returns, int count,
				   const struct observed_argument *arguments);
void observe_return(struct observed_call *call, const struct observed_argument *arguments,
		    intptr_t ret);
void observe_return_nothing(struct observed_call *call, const struct observed_argument *arguments);

/* The engine. */

void observe_open(const char *file); /* NULL: nothing is kept */
void observe_case(void);	     /* forgets the case before */
void observe_process(void);	     /* the caller is the first thread of the case from here on */

/*
 * One event. WHAT has a letter per item: s a string (NULL: null), b a truth (int), i a number
 * (intptr_t).
 */
void observe_event(const char *what, ...);
/* The same; left out when room gets short. */
void observe_exchange(int peer, const char *request, size_t length, const char *reply);

/* The case's time is up: notes for how long calls have been under way that have not come back. */
void observe_timeout(void);
/* An exchange that has had no reply for so many seconds. */
void observe_pending(int peer, const char *request, long seconds);

bool observe_is_full(void);		/* an event had no room */
int observe_write(const char *case_id); /* 0 or -errno */

#endif
