#ifndef TIDEOVER_ALLOCATIONS_H
#define TIDEOVER_ALLOCATIONS_H

#include <stdint.h>

/// Returns the number of allocations of the calling thread since its start.
uint64_t tideover_allocation_count(void);

#endif
