// The description of the server's routes, without what follows from the table of
// routes: the bytes of openapi.json, and their number.
const unsigned char *tideover_openapi_document(void);
long tideover_openapi_length(void);
