#include "CTideoverOpenAPI.h"

// Not a Swift array: one of this size takes the compiler up to a minute.
#pragma clang diagnostic ignored "-Wc23-extensions"
static const unsigned char document[] = {
#embed "openapi.json"
};

const unsigned char *tideover_openapi_document(void) { return document; }
long tideover_openapi_length(void) { return sizeof document; }
