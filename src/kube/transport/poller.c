/* poller: an epoll set of epoll sets, and an eventfd. See socket.h. */
#include "socket.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define EVENTS_AT_ONCE 64

/* Adds fd, which the poller owns from now on; closes it on failure. */
static int add(const struct poller *poller, int fd)
{
    struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};
    if (fd < 0)
        return -errno;
    if (epoll_ctl(poller->epoll_fd, EPOLL_CTL_ADD, fd, &event) == 0)
        return fd;
    int code = -errno;
    (void)close(fd);
    return code;
}

int poller_init(struct poller *poller)
{
    poller->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (poller->epoll_fd < 0)
        return -errno;
    poller->bell_fd = add(poller, eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (poller->bell_fd >= 0)
        return 0;
    (void)close(poller->epoll_fd);
    return poller->bell_fd;
}

void poller_fini(struct poller *poller)
{
    (void)close(poller->bell_fd);
    (void)close(poller->epoll_fd);
}

void poller_wait(struct poller *poller, int64_t timeout_ms)
{
    struct epoll_event event;
    int limited_ms = timeout_ms > INT32_MAX ? INT32_MAX : (int)timeout_ms;
    eventfd_t n = 0;
    if (epoll_wait(poller->epoll_fd, &event, 1, timeout_ms < 0 ? -1 : limited_ms) > 0)
        (void)eventfd_read(poller->bell_fd, &n);
}

void poller_ring(struct poller *poller)
{
    (void)eventfd_write(poller->bell_fd, 1);
}

int poller_new_set(struct poller *poller)
{
    return add(poller, epoll_create1(EPOLL_CLOEXEC));
}

void poller_watch(int set, int fd, bool in, bool out)
{
    struct epoll_event event = {.events = (in ? EPOLLIN : 0U) | (out ? EPOLLOUT : 0U),
                                .data.fd = fd};
    if (!in && !out)
        (void)epoll_ctl(set, EPOLL_CTL_DEL, fd, NULL);
    else if (epoll_ctl(set, EPOLL_CTL_MOD, fd, &event) < 0)
        (void)epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
}

int poller_ready(int set, struct poller_event *ret_events, int max)
{
    struct epoll_event events[EVENTS_AT_ONCE];
    int n = epoll_wait(set, events, max < EVENTS_AT_ONCE ? max : EVENTS_AT_ONCE, 0);
    for (int i = 0; i < n; i++)
        ret_events[i] = (struct poller_event){
            .fd = events[i].data.fd,
            .in = (events[i].events & EPOLLIN) != 0,
            .out = (events[i].events & EPOLLOUT) != 0,
            .broken = (events[i].events & (EPOLLERR | EPOLLHUP)) != 0,
        };
    return n < 0 ? 0 : n;
}
