/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The controller process of a fabric; ctl.h describes what it is for and how it is spoken to.
 */
#ifndef EMBEDDED_CONTROLLER_H
#define EMBEDDED_CONTROLLER_H

/* Leaves a controller behind unless the fabric has one; 0 or a negative errno. */
int controller_start(const char *fabric);

#endif
