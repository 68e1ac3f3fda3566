#include <spawn.h>

/* GNU's calls that Swift's module of the C library does not show. */

/* A pipe that programs started meanwhile do not inherit. */
int tideover_pipe(int ends[2]);

/* A nameless file in memory that programs started meanwhile do not inherit. */
int tideover_file_in_memory(void);

/* Has a program inherit no file from this number on. */
int tideover_close_from(posix_spawn_file_actions_t *actions, int file);
