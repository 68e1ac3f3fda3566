#ifndef TIDEOVER_FUZZING_H
#define TIDEOVER_FUZZING_H

#include <stddef.h>
#include <stdint.h>

/// What libFuzzer itself does to an input: changes it in place and returns its new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

#endif
