#include "CTideoverSQLiteLog.h"

#include <sqlite3.h>
#include <string.h>

/* SQLite's VFS for Unix writes fewer than 128 KiB at once: this is the header of a log and 31 pages. */
enum { capacity = 32 + 31 * (24 + 4096) };

/* An open log: its writes that are not passed on yet, and behind it the default VFS's file. */
typedef struct {
    sqlite3_file base;
    unsigned char *gathered;
    sqlite3_int64 offset;
    int count;
} log_file;

static sqlite3_vfs *system_vfs;
static sqlite3_vfs log_vfs;
/* Cleared if SQLite pads a commit to the disk's sectors: it then writes once more after it asked for a
   confirmation. */
static volatile int gathers = 1;

static sqlite3_file *file_of(sqlite3_file *file) {
    return (sqlite3_file *)((log_file *)file + 1);
}

/* Passes on what was gathered. It stays after an error: when a read fails SQLite may undo one statement
   alone, and still counts on all that others wrote. */
static int pass_on(log_file *log) {
    if (log->count == 0) return SQLITE_OK;
    sqlite3_file *file = file_of(&log->base);
    int code = file->pMethods->xWrite(file, log->gathered, log->count, log->offset);
    if (code == SQLITE_OK) log->count = 0;
    return code;
}

/* The same for a write or a confirmation, after whose error SQLite undoes the whole transaction. */
static int pass_on_or_drop(log_file *log) {
    int code = pass_on(log);
    log->count = 0;
    return code;
}

static int log_write(sqlite3_file *base, const void *bytes, int count, sqlite3_int64 offset) {
    log_file *log = (log_file *)base;
    sqlite3_file *file = file_of(base);
    if (log->count > 0 && (offset != log->offset + log->count || count > capacity - log->count)) {
        int code = pass_on_or_drop(log);
        if (code != SQLITE_OK) return code;
    }
    if (!log->gathered) log->gathered = sqlite3_malloc(capacity);
    if (!log->gathered || count > capacity) {
        return file->pMethods->xWrite(file, bytes, count, offset);
    }
    if (log->count == 0) log->offset = offset;
    memcpy(log->gathered + log->count, bytes, (size_t)count);
    log->count += count;
    return SQLITE_OK;
}

static int log_read(sqlite3_file *base, void *bytes, int count, sqlite3_int64 offset) {
    log_file *log = (log_file *)base;
    sqlite3_file *file = file_of(base);
    if (offset < log->offset + log->count && log->offset < offset + count) {
        int code = pass_on(log);
        if (code != SQLITE_OK) return code;
    }
    return file->pMethods->xRead(file, bytes, count, offset);
}

static int log_truncate(sqlite3_file *base, sqlite3_int64 size) {
    log_file *log = (log_file *)base;
    sqlite3_file *file = file_of(base);
    if (size <= log->offset) log->count = 0;
    int code = pass_on(log);
    return code == SQLITE_OK ? file->pMethods->xTruncate(file, size) : code;
}

static int log_sync(sqlite3_file *base, int flags) {
    sqlite3_file *file = file_of(base);
    int code = pass_on_or_drop((log_file *)base);
    return code == SQLITE_OK ? file->pMethods->xSync(file, flags) : code;
}

static int log_size(sqlite3_file *base, sqlite3_int64 *size) {
    sqlite3_file *file = file_of(base);
    int code = pass_on((log_file *)base);
    return code == SQLITE_OK ? file->pMethods->xFileSize(file, size) : code;
}

static int log_close(sqlite3_file *base) {
    log_file *log = (log_file *)base;
    sqlite3_file *file = file_of(base);
    int written = pass_on(log);
    sqlite3_free(log->gathered);
    log->gathered = NULL;
    int closed = file->pMethods->xClose(file);
    return written == SQLITE_OK ? closed : written;
}

static int log_lock(sqlite3_file *base, int level) {
    sqlite3_file *file = file_of(base);
    return file->pMethods->xLock(file, level);
}

static int log_unlock(sqlite3_file *base, int level) {
    sqlite3_file *file = file_of(base);
    return file->pMethods->xUnlock(file, level);
}

static int log_is_reserved(sqlite3_file *base, int *result) {
    sqlite3_file *file = file_of(base);
    return file->pMethods->xCheckReservedLock(file, result);
}

static int log_control(sqlite3_file *base, int operation, void *argument) {
    sqlite3_file *file = file_of(base);
    int code = pass_on((log_file *)base);
    return code == SQLITE_OK ? file->pMethods->xFileControl(file, operation, argument) : code;
}

static int log_sector_size(sqlite3_file *base) {
    sqlite3_file *file = file_of(base);
    return file->pMethods->xSectorSize(file);
}

static int log_characteristics(sqlite3_file *base) {
    sqlite3_file *file = file_of(base);
    return file->pMethods->xDeviceCharacteristics(file);
}

/* Version 1: a log has neither shared memory nor a mapping. */
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_is_reserved,
    .xFileControl = log_control,
    .xSectorSize = log_sector_size,
    .xDeviceCharacteristics = log_characteristics,
};

/* Opens a file in place, whose calls never come here again. */
static int open_other(const char *name, sqlite3_file *file, int flags, int *opened) {
    int code = system_vfs->xOpen(system_vfs, name, file, flags, opened);
    if (code == SQLITE_OK && flags & SQLITE_OPEN_MAIN_DB) {
        int characteristics = file->pMethods->xDeviceCharacteristics(file);
        if (!(characteristics & SQLITE_IOCAP_POWERSAFE_OVERWRITE)) gathers = 0;
    }
    return code;
}

/* A log is opened after its database. */
static int log_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *base, int flags, int *opened) {
    (void)vfs;
    if (!(flags & SQLITE_OPEN_WAL) || !gathers) return open_other(name, base, flags, opened);
    log_file *log = (log_file *)base;
    memset(log, 0, sizeof *log);
    sqlite3_file *file = file_of(base);
    int code = system_vfs->xOpen(system_vfs, name, file, flags, opened);
    /* Without methods SQLite does not close the file. */
    if (file->pMethods) base->pMethods = &log_methods;
    return code;
}

int tideover_sqlite_register_log(void) {
    system_vfs = sqlite3_vfs_find(NULL);
    if (!system_vfs) return SQLITE_ERROR;
    /* The other functions are given this VFS, and find in it what they find in their own. */
    log_vfs = *system_vfs;
    log_vfs.pNext = NULL;
    log_vfs.zName = TIDEOVER_SQLITE_LOG_VFS;
    log_vfs.szOsFile += (int)sizeof(log_file);
    log_vfs.xOpen = log_open;
    return sqlite3_vfs_register(&log_vfs, 0);
}
