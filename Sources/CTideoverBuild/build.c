#include "CTideoverBuild.h"

// The manifest defines the macro. A manifest can pass a string only to C code.
const char *tideover_build_commit(void) { return TIDEOVER_COMMIT; }
