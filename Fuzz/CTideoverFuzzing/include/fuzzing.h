#ifndef TIDEOVER_FUZZING_H
#define TIDEOVER_FUZZING_H

#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own mutation: changes an input in place and returns its new size.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/// Parses ` 01 Jun 2026 00:00:00 GMT`, the date of an HTTP header after the weekday, with functions of
/// the C library that Swift cannot import. Returns 1 and the seconds since 1970, or 0.
int tideover_read_date(const char *text, int64_t *seconds);

#endif
