#include <microhttpd.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Functions that Swift cannot import: variadic functions, and functions that
// the C library declares only with _GNU_SOURCE.

int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
int pthread_setname_np(pthread_t thread, const char *name);

// Linux's POLLRDHUP: the peer has shut down its sending half.
enum { tideover_poll_hung_up = 0x2000 };

// Keeps a request target as sent, which libmicrohttpd would decode.
static inline size_t tideover_mhd_leave_encoded(
    void *context, struct MHD_Connection *connection, char *text) {
  (void)context;
  (void)connection;
  return strlen(text);
}

// Ends a target at its question mark, so that libmicrohttpd does not parse the
// query. Tideover parses it, and 0.9.75 hangs on a query with too many items
// for its memory. Call it from the callback that receives the target as sent.
static inline void tideover_mhd_hide_query(const char *target) {
  char *mark = strchr((char *)target, '?');
  if (mark) mark[1] = 0;
}

// Starts a daemon with one epoll thread and no listening socket. It receives
// connections through MHD_add_connection. Returns NULL on failure. Before 1.0
// Tideover does the strict checks, which are more complete. There the daemon's
// own rejection of a request without Host sends its head twice.
static inline struct MHD_Daemon *tideover_mhd_start(
    size_t memory_per_connection, unsigned int connections,
    MHD_AccessHandlerCallback access,
    void *(*began)(void *context, const char *target, struct MHD_Connection *),
    MHD_RequestCompletedCallback completed,
    MHD_NotifyConnectionCallback connection, void *context) {
  return MHD_start_daemon(
      MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
          MHD_ALLOW_SUSPEND_RESUME,
      0, NULL, NULL, access, context,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, memory_per_connection,
      MHD_OPTION_CONNECTION_LIMIT, connections,
      MHD_OPTION_CONNECTION_TIMEOUT, 0u,
      MHD_OPTION_STRICT_FOR_CLIENT, MHD_VERSION < 0x01000000 ? 0 : 1,
      MHD_OPTION_URI_LOG_CALLBACK, began, context,
      MHD_OPTION_UNESCAPE_CALLBACK, tideover_mhd_leave_encoded, NULL,
      MHD_OPTION_NOTIFY_COMPLETED, completed, context,
      MHD_OPTION_NOTIFY_CONNECTION, connection, context, MHD_OPTION_END);
}

// Returns the application's context of a connection; NULL if there is none.
static inline void *tideover_mhd_connection_context(
    struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(
      connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

// Returns the socket of a connection; -1 if unknown.
static inline int tideover_mhd_connection_socket(
    struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info ? info->connect_fd : -1;
}

// Returns the number of bytes from the method to the empty line after the header
// fields; 0 before that line has arrived.
static inline size_t tideover_mhd_head_bytes(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info = MHD_get_connection_info(
      connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
  return info ? info->header_size : 0;
}

// Reads the user id of the peer process of a Unix socket; returns 0 on success.
// The C library declares struct ucred only with _GNU_SOURCE.
static inline int tideover_peer_user(int socket, uint32_t *user) {
  uint32_t credentials[3];  // process, user, group
  socklen_t length = sizeof credentials;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, credentials, &length) != 0 ||
      length != sizeof credentials)
    return -1;
  *user = credentials[1];
  return 0;
}

// Returns the total bytes received on a TCP socket; -1 if unknown. This is
// tcpi_bytes_received of Linux 4.1's struct tcp_info, at byte 128; the C library's
// declaration of that struct ends before it.
static inline int64_t tideover_tcp_bytes_received(int socket) {
  unsigned char info[136];
  socklen_t length = sizeof info;
  int64_t bytes;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, info, &length) != 0 ||
      length < sizeof info)
    return -1;
  memcpy(&bytes, info + 128, sizeof bytes);
  return bytes;
}
