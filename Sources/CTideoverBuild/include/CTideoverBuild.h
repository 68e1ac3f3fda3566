// The commit that the program was built from, in hexadecimal; empty where the
// build did not know. Changes that were not committed do not show.
const char *tideover_build_commit(void);
