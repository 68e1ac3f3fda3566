// Wraps the C library's allocator, in the benchmarks' executable only. Counting per thread costs
// little, and shows additional allocations even on a busy machine.

#include "allocations.h"

#include <errno.h>
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static __thread uint64_t count;

uint64_t tideover_allocation_count(void) { return count; }

void *malloc(size_t size) {
    count += 1;
    return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
    count += 1;
    return __libc_calloc(number, size);
}

void *realloc(void *memory, size_t size) {
    count += 1;
    return __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    count += 1;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    count += 1;
    *memory = __libc_memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}
