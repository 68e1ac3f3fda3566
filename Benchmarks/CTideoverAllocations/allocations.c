// Wraps the C library's allocator and its function that writes databases, in the benchmarks'
// executable only. Counting per thread costs little, and shows additional allocations even on a
// busy machine. All threads together are counted only on request.

#define _GNU_SOURCE

#include "allocations.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t count;
static atomic_bool counts_all;
static _Atomic uint64_t allocations, writes, bytes_written;

uint64_t tideover_allocation_count(void) { return count; }

void tideover_count_process(void) { atomic_store(&counts_all, 1); }

struct tideover_process_counts tideover_process_counts(void) {
    struct tideover_process_counts counts = {allocations, writes, bytes_written};
    return counts;
}

static void count_allocation(void) {
    count += 1;
    if (atomic_load_explicit(&counts_all, memory_order_relaxed))
        atomic_fetch_add_explicit(&allocations, 1, memory_order_relaxed);
}

void *malloc(size_t size) {
    count_allocation();
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count_allocation();
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count_allocation();
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count_allocation();
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count_allocation();
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

typedef ssize_t (*write_function)(int file, const void *bytes, size_t length, off64_t offset);

// SQLite writes all its files with it.
ssize_t pwrite64(int file, const void *bytes, size_t length, off64_t offset) {
    static _Atomic(write_function) next;
    write_function write = atomic_load(&next);
    if (!write) {
        write = (write_function)dlsym(RTLD_NEXT, "pwrite64");
        atomic_store(&next, write);
    }
    atomic_fetch_add_explicit(&writes, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&bytes_written, length, memory_order_relaxed);
    return write(file, bytes, length, offset);
}
