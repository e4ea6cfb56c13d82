/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The requests of the two SCIF drivers: Knights Corner's (/dev/mic/scif) and its successor's
 * (/dev/scif).  The structures are the same but for one; the numbers differ, because the first
 * driver encoded the size of a pointer where the second encodes that of the structure.
 *
 * The numbers are put together here and not by <linux/ioctl.h>, and pointers are 64-bit words, so
 * that every architecture gets the drivers' own layout.
 */
#ifndef HW_DRIVER_H
#define HW_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef uint64_t hw_word __attribute__((aligned(8)));
typedef int64_t hw_offset __attribute__((aligned(8)));

struct hw_port {
	uint16_t node;
	uint16_t port;
};

struct hw_connect {
	struct hw_port self; /* out */
	struct hw_port peer;
};

struct hw_accept {
	int32_t flags;
	struct hw_port peer; /* out */
	hw_word endpoint;    /* out: what ACCEPTREG wants the address of */
};

struct hw_message {
	hw_word bytes;
	int32_t len;
	int32_t flags;
	int32_t out_len; /* out */
};

struct hw_register {
	hw_word addr;
	hw_word len;
	hw_offset offset;
	int32_t prot;
	int32_t flags;
	hw_offset out_offset; /* out */
};

struct hw_unregister {
	hw_offset offset;
	hw_word len;
};

/* addr is 0 in a transfer between windows, loffset in one with plain memory. */
struct hw_copy {
	hw_offset loffset;
	hw_word len;
	hw_offset roffset;
	hw_word addr;
	int32_t flags;
};

struct hw_fence_mark {
	int32_t flags;
	hw_word mark;
};

struct hw_fence_signal {
	hw_offset loff;
	hw_word lval;
	hw_offset roff;
	hw_word rval;
	int32_t flags;
};

struct hw_nodes_knc {
	hw_word nodes;
	int32_t len; /* in and out */
	hw_word self;
};

struct hw_nodes_mpss4 {
	hw_word nodes;
	hw_word self;
	int32_t len; /* in and out */
};

#define HW_REQUEST(direction, number, size)                                                        \
	(direction##u << 30 | size##u << 16 | 0x7300u | number##u)

/* The same for both drivers. */
#define HW_BIND	      HW_REQUEST(3, 1, 8)
#define HW_LISTEN     HW_REQUEST(1, 2, 4)
#define HW_CONNECT    HW_REQUEST(3, 3, 8)
#define HW_ACCEPTREG  HW_REQUEST(3, 5, 8)
#define HW_FENCE_WAIT HW_REQUEST(3, 16, 4)

#define HW_KNC_ACCEPTREQ    HW_REQUEST(3, 4, 8)
#define HW_KNC_SEND	    HW_REQUEST(3, 6, 8)
#define HW_KNC_RECV	    HW_REQUEST(3, 7, 8)
#define HW_KNC_REG	    HW_REQUEST(3, 8, 8)
#define HW_KNC_UNREG	    HW_REQUEST(3, 9, 8)
#define HW_KNC_READFROM	    HW_REQUEST(3, 10, 8)
#define HW_KNC_WRITETO	    HW_REQUEST(3, 11, 8)
#define HW_KNC_VREADFROM    HW_REQUEST(3, 12, 8)
#define HW_KNC_VWRITETO	    HW_REQUEST(3, 13, 8)
#define HW_KNC_GET_NODEIDS  HW_REQUEST(3, 14, 8)
#define HW_KNC_FENCE_MARK   HW_REQUEST(3, 15, 8)
#define HW_KNC_FENCE_SIGNAL HW_REQUEST(3, 17, 8)
#define HW_KNC_GET_VERSION  HW_REQUEST(0, 23, 0)

#define HW_MPSS4_ACCEPTREQ    HW_REQUEST(3, 4, 16)
#define HW_MPSS4_SEND	      HW_REQUEST(3, 6, 24)
#define HW_MPSS4_RECV	      HW_REQUEST(3, 7, 24)
#define HW_MPSS4_REG	      HW_REQUEST(3, 8, 40)
#define HW_MPSS4_UNREG	      HW_REQUEST(3, 9, 16)
#define HW_MPSS4_READFROM     HW_REQUEST(3, 10, 40)
#define HW_MPSS4_WRITETO      HW_REQUEST(3, 11, 40)
#define HW_MPSS4_VREADFROM    HW_REQUEST(3, 12, 40)
#define HW_MPSS4_VWRITETO     HW_REQUEST(3, 13, 40)
#define HW_MPSS4_GET_NODEIDS  HW_REQUEST(3, 14, 24)
#define HW_MPSS4_FENCE_MARK   HW_REQUEST(3, 15, 16)
#define HW_MPSS4_FENCE_SIGNAL HW_REQUEST(3, 17, 40)

#define HW_IS(fact)			 _Static_assert(fact, #fact)
#define HW_AT(structure, member, offset) HW_IS(offsetof(struct structure, member) == offset)

HW_IS(sizeof(struct hw_port) == 4);
HW_AT(hw_port, node, 0);
HW_AT(hw_port, port, 2);
HW_IS(sizeof(struct hw_connect) == 8);
HW_AT(hw_connect, self, 0);
HW_AT(hw_connect, peer, 4);
HW_IS(sizeof(struct hw_accept) == 16);
HW_AT(hw_accept, flags, 0);
HW_AT(hw_accept, peer, 4);
HW_AT(hw_accept, endpoint, 8);
HW_IS(sizeof(struct hw_message) == 24);
HW_AT(hw_message, bytes, 0);
HW_AT(hw_message, len, 8);
HW_AT(hw_message, flags, 12);
HW_AT(hw_message, out_len, 16);
HW_IS(sizeof(struct hw_register) == 40);
HW_AT(hw_register, addr, 0);
HW_AT(hw_register, len, 8);
HW_AT(hw_register, offset, 16);
HW_AT(hw_register, prot, 24);
HW_AT(hw_register, flags, 28);
HW_AT(hw_register, out_offset, 32);
HW_IS(sizeof(struct hw_unregister) == 16);
HW_AT(hw_unregister, offset, 0);
HW_AT(hw_unregister, len, 8);
HW_IS(sizeof(struct hw_copy) == 40);
HW_AT(hw_copy, loffset, 0);
HW_AT(hw_copy, len, 8);
HW_AT(hw_copy, roffset, 16);
HW_AT(hw_copy, addr, 24);
HW_AT(hw_copy, flags, 32);
HW_IS(sizeof(struct hw_fence_mark) == 16);
HW_AT(hw_fence_mark, flags, 0);
HW_AT(hw_fence_mark, mark, 8);
HW_IS(sizeof(struct hw_fence_signal) == 40);
HW_AT(hw_fence_signal, loff, 0);
HW_AT(hw_fence_signal, lval, 8);
HW_AT(hw_fence_signal, roff, 16);
HW_AT(hw_fence_signal, rval, 24);
HW_AT(hw_fence_signal, flags, 32);
HW_IS(sizeof(struct hw_nodes_knc) == 24);
HW_AT(hw_nodes_knc, nodes, 0);
HW_AT(hw_nodes_knc, len, 8);
HW_AT(hw_nodes_knc, self, 16);
HW_IS(sizeof(struct hw_nodes_mpss4) == 24);
HW_AT(hw_nodes_mpss4, nodes, 0);
HW_AT(hw_nodes_mpss4, self, 8);
HW_AT(hw_nodes_mpss4, len, 16);

HW_IS(HW_BIND == 0xc0087301);
HW_IS(HW_LISTEN == 0x40047302);
HW_IS(HW_CONNECT == 0xc0087303);
HW_IS(HW_ACCEPTREG == 0xc0087305);
HW_IS(HW_FENCE_WAIT == 0xc0047310);
HW_IS(HW_KNC_ACCEPTREQ == 0xc0087304);
HW_IS(HW_KNC_SEND == 0xc0087306);
HW_IS(HW_KNC_RECV == 0xc0087307);
HW_IS(HW_KNC_REG == 0xc0087308);
HW_IS(HW_KNC_UNREG == 0xc0087309);
HW_IS(HW_KNC_READFROM == 0xc008730a);
HW_IS(HW_KNC_WRITETO == 0xc008730b);
HW_IS(HW_KNC_VREADFROM == 0xc008730c);
HW_IS(HW_KNC_VWRITETO == 0xc008730d);
HW_IS(HW_KNC_GET_NODEIDS == 0xc008730e);
HW_IS(HW_KNC_FENCE_MARK == 0xc008730f);
HW_IS(HW_KNC_FENCE_SIGNAL == 0xc0087311);
HW_IS(HW_KNC_GET_VERSION == 0x00007317);
HW_IS(HW_MPSS4_ACCEPTREQ == 0xc0107304);
HW_IS(HW_MPSS4_SEND == 0xc0187306);
HW_IS(HW_MPSS4_RECV == 0xc0187307);
HW_IS(HW_MPSS4_REG == 0xc0287308);
HW_IS(HW_MPSS4_UNREG == 0xc0107309);
HW_IS(HW_MPSS4_READFROM == 0xc028730a);
HW_IS(HW_MPSS4_WRITETO == 0xc028730b);
HW_IS(HW_MPSS4_VREADFROM == 0xc028730c);
HW_IS(HW_MPSS4_VWRITETO == 0xc028730d);
HW_IS(HW_MPSS4_GET_NODEIDS == 0xc018730e);
HW_IS(HW_MPSS4_FENCE_MARK == 0xc010730f);
HW_IS(HW_MPSS4_FENCE_SIGNAL == 0xc0287311);

#endif
