#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/obj_mac.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

/// Calls EC_GROUP_precompute_mult, which is deprecated in OpenSSL 3. Returns 0, its failure code, if
/// OpenSSL was built without it.
static inline int tideover_group_precompute(EC_GROUP *group, BN_CTX *context) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
    (void)group;
    (void)context;
    return 0;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return EC_GROUP_precompute_mult(group, context);
#pragma GCC diagnostic pop
#endif
}

/// Calls EC_POINT_get_Jprojective_coordinates_GFp, which is deprecated in OpenSSL 3, for x and z.
/// Returns 0, its failure code, if OpenSSL was built without it.
static inline int tideover_point_get_projective(
    const EC_GROUP *group, const EC_POINT *point, BIGNUM *x, BIGNUM *z, BN_CTX *context) {
#ifdef OPENSSL_NO_DEPRECATED_3_0
    (void)group;
    (void)point;
    (void)x;
    (void)z;
    (void)context;
    return 0;
#else
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return EC_POINT_get_Jprojective_coordinates_GFp(group, point, x, NULL, z, context);
#pragma GCC diagnostic pop
#endif
}
