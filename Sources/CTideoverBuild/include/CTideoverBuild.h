// Returns the commit of the build in hexadecimal, from TIDEOVER_COMMIT at build
// time; empty if that was not set.
const char *tideover_build_commit(void);
