#include <libpq-fe.h>

/* Macros that Swift does not import. */

static inline char tideover_pg_field_severity(void) { return PG_DIAG_SEVERITY_NONLOCALIZED; }

static inline char tideover_pg_field_state(void) { return PG_DIAG_SQLSTATE; }

static inline char tideover_pg_field_constraint(void) { return PG_DIAG_CONSTRAINT_NAME; }
