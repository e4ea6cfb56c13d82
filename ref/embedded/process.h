/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a process owns once in the fabric: its named datagram socket, its view of the node table and
 * its registry.  All of it is made at the first scif_open and made again in a forked child at first
 * use.
 */
#ifndef EMBEDDED_PROCESS_H
#define EMBEDDED_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* Tells whether a number still names the descriptor that was put there. */
struct fd_identity {
	dev_t device;
	ino_t inode;
};

/*
 * Takes what a call that makes a descriptor returned and keeps it out of the way of standard input,
 * output and error, in a program that has closed those: the descriptor, or -1 and errno.
 */
int fd_keep(int fd);
/*
 * Whether a file may be as long as that. Beyond the limit the kernel does not only refuse: by default it ends the
 * program with SIGXFSZ, which no caller of ours has deserved. So what would go beyond is never asked for.
 */
bool fd_may_reach(off_t end);
/* ftruncate(2) but for that signal: 0, or -1 and errno. */
int fd_set_size(int fd, off_t size);
bool fd_identify(int fd, struct fd_identity *identity);
bool fd_is(int fd, const struct fd_identity *identity);

/* 0, -ENXIO (bad environment, other fabric version, own node down), -ENOMEM, -EMFILE, -ENFILE. */
int process_init(void);

/*
 * The process's datagram socket, readable when the node table may have changed; -1 when there is
 * none. Whoever finds it readable calls process_refresh(), which empties it: another sleeper may
 * not see that message.  The loss of a node is therefore always visible on the connection as well,
 * as a hang-up.
 */
int process_wake_fd(void);

/* Takes in what is waiting on the socket; does not block. */
void process_refresh(void);

/* Whether no process has that number, as far as we are told: one that cannot be asked counts as living. 0 is nobody. */
bool process_dead(pid_t pid);

/* A routine that process_refresh() calls, without locks, when the view changed; NULL: none. */
void process_on_change(void (*changed)(void));

#endif
