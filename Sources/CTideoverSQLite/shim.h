#include <sqlite3.h>

/* Wrappers for variadic functions and a cast destructor, which Swift cannot express. */

/*
 * Stops SQLite from counting the memory it uses: it would lock one mutex for all connections at each
 * allocation. Call it before the first connection is opened; later it has no effect.
 */
static inline int tideover_sqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static inline int tideover_sqlite_keep_wal_on_close(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

static inline int tideover_sqlite_defend(sqlite3 *db) {
    return sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, (int *)0);
}

static inline int tideover_sqlite_bind_text(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_text64(
        statement, index, (const char *)bytes, count, SQLITE_TRANSIENT, SQLITE_UTF8);
}

static inline int tideover_sqlite_bind_blob(
    sqlite3_stmt *statement, int index, const void *bytes, sqlite3_uint64 count) {
    return sqlite3_bind_blob64(statement, index, bytes, count, SQLITE_TRANSIENT);
}
