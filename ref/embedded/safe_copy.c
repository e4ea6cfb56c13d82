/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Touching memory that the caller named. The loads and stores live in a few
 * assembly routines between two labels; a fault there jumps to their error
 * exit, any other fault goes where it would have gone without us.
 */
#include "safe_copy.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE 4096u

#if defined(__x86_64__) || defined(__aarch64__)

extern const char safe_begin[] __attribute__((visibility("hidden")));
extern const char safe_end[] __attribute__((visibility("hidden")));
extern const char safe_fault[] __attribute__((visibility("hidden")));
int safe_move(void *dst, const void *src, size_t n) __attribute__((visibility("hidden")));
int safe_touch(void *p) __attribute__((visibility("hidden")));
int safe_load_pages(const void *p, const void *end) __attribute__((visibility("hidden")));
int safe_rewrite_pages(void *p, const void *end) __attribute__((visibility("hidden")));

#if defined(__x86_64__)
/* Leaf routines without a frame: at any fault the return address is on top of the stack. */
__asm__(".text\n"
	".p2align 4\n"
	".hidden safe_begin, safe_end, safe_fault, safe_move, safe_touch\n"
	".hidden safe_load_pages, safe_rewrite_pages\n"
	".globl safe_begin, safe_end, safe_fault, safe_move, safe_touch\n"
	".globl safe_load_pages, safe_rewrite_pages\n"
	".type safe_move, @function\n"
	".type safe_touch, @function\n"
	".type safe_load_pages, @function\n"
	".type safe_rewrite_pages, @function\n"
	"safe_begin:\n"
	"safe_move:\n"
	"	cmp $8, %rdx\n"
	"	je 8f\n"
	"	jb 7f\n"
	"	cmp $256, %rdx\n"
	"	ja 1f\n"
	"	cmp $16, %rdx\n"
	"	jb 1f\n"
	"	lea -16(%rdi,%rdx), %rax\n"
	"	movups -16(%rsi,%rdx), %xmm1\n"
	"9:	cmp %rax, %rdi\n"
	"	jae 6f\n"
	"	movups (%rsi), %xmm0\n"
	"	movups %xmm0, (%rdi)\n"
	"	add $16, %rsi\n"
	"	add $16, %rdi\n"
	"	jmp 9b\n"
	"6:	movups %xmm1, (%rax)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"7:	cmp $4, %rdx\n"
	"	je 4f\n"
	"	cmp $2, %rdx\n"
	"	je 2f\n"
	"1:	mov %rdx, %rcx\n"
	"	rep movsb\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"8:	mov (%rsi), %rax\n"
	"	mov %rax, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"4:	mov (%rsi), %eax\n"
	"	mov %eax, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"2:	movzwl (%rsi), %eax\n"
	"	mov %ax, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"safe_touch:\n"
	"	lock orb $0, (%rdi)\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"safe_load_pages:\n"
	"1:	movzbl (%rdi), %eax\n"
	"	and $-4096, %rdi\n"
	"	add $4096, %rdi\n"
	"	cmp %rsi, %rdi\n"
	"	jb 1b\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"safe_rewrite_pages:\n"
	"1:	movzbl (%rdi), %eax\n"
	"	mov %al, (%rdi)\n"
	"	and $-4096, %rdi\n"
	"	add $4096, %rdi\n"
	"	cmp %rsi, %rdi\n"
	"	jb 1b\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"safe_end:\n"
	"safe_fault:\n"
	"	mov $-14, %eax\n"
	"	ret\n"
	".size safe_move, safe_touch - safe_move\n"
	".size safe_touch, safe_load_pages - safe_touch\n"
	".size safe_load_pages, safe_rewrite_pages - safe_load_pages\n"
	".size safe_rewrite_pages, safe_end - safe_rewrite_pages\n");

static uintptr_t *program_counter(ucontext_t *context)
{
	return (uintptr_t *)&context->uc_mcontext.gregs[REG_RIP];
}
#else
__asm__(".text\n"
	".p2align 4\n"
	".hidden safe_begin, safe_end, safe_fault, safe_move, safe_touch\n"
	".hidden safe_load_pages, safe_rewrite_pages\n"
	".globl safe_begin, safe_end, safe_fault, safe_move, safe_touch\n"
	".globl safe_load_pages, safe_rewrite_pages\n"
	".type safe_move, %function\n"
	".type safe_touch, %function\n"
	".type safe_load_pages, %function\n"
	".type safe_rewrite_pages, %function\n"
	"safe_begin:\n"
	"safe_move:\n"
	"	orr x5, x0, x1\n"
	"	cmp x2, #8\n"
	"	b.eq 8f\n"
	"	cmp x2, #4\n"
	"	b.eq 7f\n"
	"	cmp x2, #2\n"
	"	b.eq 6f\n"
	"1:	subs x2, x2, #16\n"
	"	b.lo 2f\n"
	"	ldp x3, x4, [x1], #16\n"
	"	stp x3, x4, [x0], #16\n"
	"	b 1b\n"
	"2:	adds x2, x2, #16\n"
	"	b.eq 4f\n"
	"3:	ldrb w3, [x1], #1\n"
	"	strb w3, [x0], #1\n"
	"	subs x2, x2, #1\n"
	"	b.ne 3b\n"
	"4:	mov w0, #0\n"
	"	ret\n"
	"8:	tst x5, #7\n"
	"	b.ne 1b\n"
	"	ldr x3, [x1]\n"
	"	str x3, [x0]\n"
	"	b 4b\n"
	"7:	tst x5, #3\n"
	"	b.ne 1b\n"
	"	ldr w3, [x1]\n"
	"	str w3, [x0]\n"
	"	b 4b\n"
	"6:	tst x5, #1\n"
	"	b.ne 1b\n"
	"	ldrh w3, [x1]\n"
	"	strh w3, [x0]\n"
	"	b 4b\n"
	"safe_touch:\n"
	"5:	ldxrb w1, [x0]\n"
	"	stxrb w2, w1, [x0]\n"
	"	cbnz w2, 5b\n"
	"	mov w0, #0\n"
	"	ret\n"
	"safe_load_pages:\n"
	"1:	ldrb w2, [x0]\n"
	"	and x0, x0, #0xfffffffffffff000\n"
	"	add x0, x0, #1, lsl #12\n"
	"	cmp x0, x1\n"
	"	b.lo 1b\n"
	"	mov w0, #0\n"
	"	ret\n"
	"safe_rewrite_pages:\n"
	"1:	ldrb w2, [x0]\n"
	"	strb w2, [x0]\n"
	"	and x0, x0, #0xfffffffffffff000\n"
	"	add x0, x0, #1, lsl #12\n"
	"	cmp x0, x1\n"
	"	b.lo 1b\n"
	"	mov w0, #0\n"
	"	ret\n"
	"safe_end:\n"
	"safe_fault:\n"
	"	mov w0, #-14\n"
	"	ret\n"
	".size safe_move, safe_touch - safe_move\n"
	".size safe_touch, safe_load_pages - safe_touch\n"
	".size safe_load_pages, safe_rewrite_pages - safe_load_pages\n"
	".size safe_rewrite_pages, safe_end - safe_rewrite_pages\n");

static uintptr_t *program_counter(ucontext_t *context)
{
	return (uintptr_t *)&context->uc_mcontext.pc;
}
#endif

/*
 * Called through pointers, which valgrind does not look through: it knows the
 * address of a fault exactly only where a translated block begins.
 */
static int (*const volatile move_bytes)(void *dst, const void *src, size_t n) = safe_move;
static int (*const volatile touch_byte)(void *p) = safe_touch;
static int (*const volatile load_pages)(const void *p, const void *end) = safe_load_pages;
static int (*const volatile rewrite_pages)(void *p, const void *end) = safe_rewrite_pages;

static struct {
	pthread_mutex_t lock;
	struct sigaction previous[2]; /* what we stand in front of: SIGSEGV, SIGBUS */
} chain = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const int fault_signal[2] = {SIGSEGV, SIGBUS};

/*
 * The default action: a fault happens again when we return, a signal that was
 * sent has to be sent again.
 */
static void die_by(int sig, siginfo_t *info)
{
	struct sigaction fallback = {.sa_handler = SIG_DFL};

	sigaction(sig, &fallback, NULL);
	if (info->si_code <= 0)
		syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid), sig, info);
}

static void call_previous(struct sigaction *previous, int sig, siginfo_t *info, void *context)
{
	struct sigaction action = *previous;
	sigset_t mask = action.sa_mask, saved;

	if (action.sa_flags & SA_RESETHAND)
		previous->sa_handler = SIG_DFL;
	if (!(action.sa_flags & SA_NODEFER))
		sigaddset(&mask, sig);
	pthread_sigmask(SIG_BLOCK, &mask, &saved);
	if (action.sa_flags & SA_SIGINFO)
		action.sa_sigaction(sig, info, context);
	else
		action.sa_handler(sig);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

static void on_fault(int sig, siginfo_t *info, void *context)
{
	struct sigaction *previous = &chain.previous[sig == SIGBUS];
	uintptr_t *pc = program_counter(context);
	int saved_errno = errno;

	if (*pc >= (uintptr_t)safe_begin && *pc < (uintptr_t)safe_end && info->si_code > 0) {
		*pc = (uintptr_t)safe_fault;
		return;
	}
	if (previous->sa_flags & SA_SIGINFO)
		call_previous(previous, sig, info, context);
	else if (previous->sa_handler == SIG_IGN && info->si_code <= 0)
		; /* sent and ignored; a fault cannot be ignored */
	else if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN)
		die_by(sig, info);
	else
		call_previous(previous, sig, info, context);
	errno = saved_errno;
}

static void install_one(int which)
{
	struct sigaction ours = {.sa_sigaction = on_fault,
				 .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
	struct sigaction present;

	if (sigaction(fault_signal[which], NULL, &present) != 0 ||
	    ((present.sa_flags & SA_SIGINFO) && present.sa_sigaction == on_fault))
		return;
	sigemptyset(&ours.sa_mask);
	chain.previous[which] = present;
	sigaction(fault_signal[which], &ours, NULL);
}

void safe_copy_install(void)
{
	pthread_mutex_lock(&chain.lock);
	install_one(0);
	install_one(1);
	pthread_mutex_unlock(&chain.lock);
}

void safe_copy_atfork_prepare(void)
{
	pthread_mutex_lock(&chain.lock);
}

void safe_copy_atfork_parent(void)
{
	pthread_mutex_unlock(&chain.lock);
}

void safe_copy_atfork_child(void)
{
	pthread_mutex_unlock(&chain.lock);
}

int safe_copy(void *dst, const void *src, size_t n)
{
	return move_bytes(dst, src, n);
}

#else /* no way to redirect a fault: the kernel does the copying */

static int move_within(void *dst, const void *src, size_t n)
{
	struct iovec to = {.iov_base = dst, .iov_len = n};
	struct iovec from = {.iov_base = (void *)(uintptr_t)src, .iov_len = n};
	ssize_t moved = process_vm_writev(getpid(), &from, 1, &to, 1, 0);

	return moved == (ssize_t)n ? 0 : -EFAULT;
}

void safe_copy_install(void)
{
}

void safe_copy_atfork_prepare(void)
{
}

void safe_copy_atfork_parent(void)
{
}

void safe_copy_atfork_child(void)
{
}

int safe_copy(void *dst, const void *src, size_t n)
{
	return n == 0 ? 0 : move_within(dst, src, n);
}

static int load_byte(const void *p)
{
	unsigned char byte;
	struct iovec to = {.iov_base = &byte, .iov_len = 1};
	struct iovec from = {.iov_base = (void *)(uintptr_t)p, .iov_len = 1};

	return process_vm_readv(getpid(), &to, 1, &from, 1, 0) == 1 ? 0 : -EFAULT;
}

static int touch_byte(void *p)
{
	/* Writing nothing shows nothing, so only readability is probed; the copy itself fails
	 * later. */
	return load_byte(p);
}

static int load_pages(const void *p, const void *end)
{
	for (const char *at = p; at < (const char *)end; at += PAGE - (uintptr_t)at % PAGE)
		if (load_byte(at) != 0)
			return -EFAULT;
	return 0;
}

static int rewrite_pages(void *p, const void *end)
{
	return load_pages(p, end);
}

#endif

static bool wraps(const void *p, size_t n)
{
	return n > UINTPTR_MAX - (uintptr_t)p;
}

int safe_probe_read(const void *p, size_t n)
{
	return wraps(p, n) || (n > 0 && load_pages(p, (const char *)p + n) != 0) ? -EFAULT : 0;
}

int safe_probe_write(void *p, size_t n)
{
	unsigned char *at = p;
	unsigned char *end = at + n;

	if (wraps(p, n))
		return -EFAULT;
	for (; at < end; at += PAGE - ((uintptr_t)at & (PAGE - 1)))
		if (touch_byte(at) != 0)
			return -EFAULT;
	return 0;
}

int safe_probe_overwrite(void *p, size_t n)
{
	return wraps(p, n) || (n > 0 && rewrite_pages(p, (char *)p + n) != 0) ? -EFAULT : 0;
}
