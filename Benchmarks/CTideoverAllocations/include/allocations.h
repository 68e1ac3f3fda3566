#ifndef TIDEOVER_ALLOCATIONS_H
#define TIDEOVER_ALLOCATIONS_H

#include <stdint.h>

/// How many pieces of memory the calling thread has asked for since it began.
uint64_t tideover_allocation_count(void);

#endif
