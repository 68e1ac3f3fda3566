#ifndef TIDEOVER_FUZZING_H
#define TIDEOVER_FUZZING_H

#include <stddef.h>
#include <stdint.h>

/// What libFuzzer itself does to an input: changes it in place and returns its new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/// Reads ` 01 Jun 2026 00:00:00 GMT`, the date of an HTTP header behind the weekday, by the C library's
/// own means, which Swift does not see. Returns 1 and the seconds since 1970, or 0.
int tideover_read_date(const char *text, int64_t *seconds);

#endif
