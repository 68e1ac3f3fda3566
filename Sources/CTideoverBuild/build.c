#include "CTideoverBuild.h"

// The manifest defines it. Only C can be given a text from there.
const char *tideover_build_commit(void) { return TIDEOVER_COMMIT; }
