// The commit that the program was built from, in hexadecimal, as TIDEOVER_COMMIT
// said when it was built; empty if that said nothing.
const char *tideover_build_commit(void);
