#define _GNU_SOURCE
#include "CTideoverTestProcesses.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

int tideover_pipe(int ends[2]) { return pipe2(ends, O_CLOEXEC); }

int tideover_file_in_memory(void) { return memfd_create("input", MFD_CLOEXEC); }

int tideover_close_from(posix_spawn_file_actions_t *actions, int file) {
    return posix_spawn_file_actions_addclosefrom_np(actions, file);
}
