// Disables the type checks of curl's macros, which are useless here: each wrapper
// has exactly the type that its options require.
#ifndef CURL_DISABLE_TYPECHECK
#define CURL_DISABLE_TYPECHECK
#endif
#include <curl/curl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>

// Functions that Swift cannot import: variadic functions, and functions that
// the C library declares only with _GNU_SOURCE.

int pthread_setname_np(pthread_t thread, const char *name);

// Initializes libcurl for this process; returns 0 on success. Call it once.
static inline CURLcode tideover_curl_prepare(void) {
  return curl_global_init(CURL_GLOBAL_DEFAULT);
}

static inline CURLcode tideover_curl_set_long(
    CURL *easy, CURLoption option, long value) {
  return curl_easy_setopt(easy, option, value);
}

// libcurl copies the text.
static inline CURLcode tideover_curl_set_text(
    CURL *easy, CURLoption option, const char *value) {
  return curl_easy_setopt(easy, option, value);
}

// The pointer must stay valid until the transfer ends.
static inline CURLcode tideover_curl_set_pointer(
    CURL *easy, CURLoption option, void *value) {
  return curl_easy_setopt(easy, option, value);
}

// Sets the trusted certificates of a transfer, as PEM text.
static inline CURLcode tideover_curl_set_roots(
    CURL *easy, const void *pem, size_t length) {
  struct curl_blob blob = {(void *)pem, length, CURL_BLOB_COPY};
  return curl_easy_setopt(easy, CURLOPT_CAINFO_BLOB, &blob);
}

// Sets the request body, which libcurl copies.
static inline CURLcode tideover_curl_set_body(
    CURL *easy, const void *bytes, size_t length) {
  CURLcode code = curl_easy_setopt(
      easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_COPYPOSTFIELDS, bytes);
}

// Sets the callbacks for each line of the head and each part of the body.
static inline CURLcode tideover_curl_set_receivers(
    CURL *easy, curl_write_callback line, curl_write_callback part,
    void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, line);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_HEADERDATA, context);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, part);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_WRITEDATA, context);
  return code;
}

// Sets the callbacks that open the socket to a resolved address, and that run
// before a request is sent over a new or reused connection.
static inline CURLcode tideover_curl_set_gates(
    CURL *easy, curl_opensocket_callback open, curl_prereq_callback before,
    void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, context);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, before);
  if (code == CURLE_OK)
    code = curl_easy_setopt(easy, CURLOPT_PREREQDATA, context);
  return code;
}

// Returns a number of a transfer from libcurl; 0 if it has none.
static inline long tideover_curl_long(CURL *easy, CURLINFO info) {
  long value = 0;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : 0;
}

// Returns a text of a transfer from libcurl, valid as long as the transfer;
// NULL if it has none.
static inline const char *tideover_curl_text(CURL *easy, CURLINFO info) {
  char *value = NULL;
  return curl_easy_getinfo(easy, info, &value) == CURLE_OK ? value : NULL;
}

// Sets the callback for the start of TLS on a new connection.
static inline CURLcode tideover_curl_set_tls_witness(
    CURL *easy, curl_ssl_ctx_callback begins, void *context) {
  CURLcode code = curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, begins);
  if (code != CURLE_OK) return code;
  return curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, context);
}

// Returns the CURLOPT_PRIVATE pointer of a transfer; NULL if there is none.
static inline void *tideover_curl_private(CURL *easy) {
  char *value = NULL;
  return curl_easy_getinfo(easy, CURLINFO_PRIVATE, &value) == CURLE_OK ? value
                                                                      : NULL;
}

static inline CURLMcode tideover_curl_multi_set_long(
    CURLM *multi, CURLMoption option, long value) {
  return curl_multi_setopt(multi, option, value);
}

// Writes the bytes of an address that libcurl is about to connect to, in network
// order. Returns their number, 4 or 16; 0 if it is not an IP address.
static inline size_t tideover_curl_address_bytes(
    const struct curl_sockaddr *address, unsigned char bytes[16]) {
  if (address->family == AF_INET) {
    struct sockaddr_in in;
    memcpy(&in, &address->addr, sizeof in);
    memcpy(bytes, &in.sin_addr, 4);
    return 4;
  }
  if (address->family == AF_INET6) {
    struct sockaddr_in6 in6;
    memcpy(&in6, &address->addr, sizeof in6);
    memcpy(bytes, &in6.sin6_addr, 16);
    return 16;
  }
  return 0;
}

// Opens a close-on-exec socket for such an address; returns -1 if there is none
// left.
static inline curl_socket_t tideover_curl_open_socket(
    const struct curl_sockaddr *address) {
  return socket(address->family, address->socktype | SOCK_CLOEXEC,
                address->protocol);
}

// Blocks SIGPIPE in the calling thread: OpenSSL writes to sockets without
// MSG_NOSIGNAL, and a disconnected peer must be a returned error.
static inline void tideover_block_broken_pipe(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}
