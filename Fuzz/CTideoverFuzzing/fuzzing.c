#define _GNU_SOURCE

#include "fuzzing.h"

#include <time.h>

int tideover_read_date(const char *text, int64_t *seconds) {
    struct tm parts = {0};
    const char *rest = strptime(text, " %d %b %Y %H:%M:%S GMT", &parts);
    if (rest == NULL || *rest != 0) return 0;
    *seconds = (int64_t)timegm(&parts);
    return 1;
}
