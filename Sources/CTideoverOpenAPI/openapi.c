#include "CTideoverOpenAPI.h"

// Swift takes minutes to compile an array of this size.
#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *tideover_openapi_document(void) { return document; }
long tideover_openapi_length(void) { return sizeof document; }
