/* socket: see socket.h. */
#include "socket.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#define KEEPALIVE_IDLE_S 30
#define KEEPALIVE_INTERVAL_S 10

void socket_prepare(int fd, bool is_tcp, int64_t unacked_ms)
{
    const unsigned timeout_ms = (unsigned)unacked_ms;
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC); /* not inherited by credential plugins */
    if (!is_tcp)
        return;
    (void)setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof(timeout_ms));
    (void)setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &(int){1}, sizeof(int));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &(int){KEEPALIVE_IDLE_S}, sizeof(int));
    (void)setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &(int){KEEPALIVE_INTERVAL_S}, sizeof(int));
}

int socket_close(int fd, bool abort)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (abort)
        (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    return close(fd);
}
