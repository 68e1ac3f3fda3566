#ifndef CTIDEOVER_SQLITE_LOG_H
#define CTIDEOVER_SQLITE_LOG_H

/* The name of the VFS, for sqlite3_open_v2. */
#define TIDEOVER_SQLITE_LOG_VFS "tideover-log"

/*
 * Registers a VFS that gathers the writes of a write-ahead log.
 *
 * SQLite writes each page of a commit with two system calls, one of them for a header of 24 bytes.
 * This VFS keeps consecutive writes in memory and passes them on together, at the latest when SQLite
 * asks the disk to confirm them, or reads the log. All other files, and all else, are the default
 * VFS's.
 *
 * Only for connections with `PRAGMA synchronous = FULL`: with less, SQLite lets other connections
 * read frames of a commit without asking for a confirmation before.
 *
 * Call it once. Returns SQLITE_OK, or the reason why the VFS cannot be used.
 */
int tideover_sqlite_register_log(void);

#endif
