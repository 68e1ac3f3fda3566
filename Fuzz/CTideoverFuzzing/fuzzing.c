#define _GNU_SOURCE

#include "fuzzing.h"

#include <stddef.h>
#include <time.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*run)(const uint8_t *, size_t));
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* The package manager gives the program this name for `main`, so libFuzzer's own is not linked. */
int TideoverFuzz_main(int count, char **arguments) {
    return LLVMFuzzerRunDriver(&count, &arguments, LLVMFuzzerTestOneInput);
}

int tideover_read_date(const char *text, int64_t *seconds) {
    struct tm parts = {0};
    const char *rest = strptime(text, " %d %b %Y %H:%M:%S GMT", &parts);
    if (rest == NULL || *rest != 0) return 0;
    *seconds = (int64_t)timegm(&parts);
    return 1;
}
