/* fd_limit: see fd_limit.h. */
#include "fd_limit.h"
#include "base/log.h"

#include <sys/resource.h>

/* For what else is open: sockets, two a thread, the log, files that are read. */
#define OTHER_FDS ((rlim_t)256)

unsigned fd_limit_for(unsigned wanted)
{
    struct rlimit limit;
    const rlim_t needed = wanted + OTHER_FDS;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
        return wanted;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= needed)
        return wanted;
    const rlim_t half = limit.rlim_cur / 2;
    const rlim_t room = limit.rlim_cur > 2 * OTHER_FDS ? limit.rlim_cur - OTHER_FDS : half;
    const unsigned n = room < wanted ? (unsigned)room : wanted;
    LOG(LOG_WARN, "http",
        LOG_MSG("fewer connections than limits.connections: too few files may be "
                "open (ulimit -n)"),
        LOG_NUM("connections", n), LOG_NUM("files", limit.rlim_cur));
    return n > 0 ? n : 1;
}
