#ifndef TIDEOVER_ALLOCATIONS_H
#define TIDEOVER_ALLOCATIONS_H

#include <stdint.h>

/// Returns the number of allocations of the calling thread since its start.
uint64_t tideover_allocation_count(void);

/// Counts of all threads. Allocations are counted since `tideover_count_process`.
struct tideover_process_counts {
    uint64_t allocations;
    /// The calls of `pwrite`, and the bytes that they were given.
    uint64_t writes;
    uint64_t bytes_written;
};

/// Counts the allocations of all threads from now on.
void tideover_count_process(void);

struct tideover_process_counts tideover_process_counts(void);

#endif
