/* fd_limit: see fd_limit.h. */
#include "fd_limit.h"
#include "base/log.h"

#include <errno.h>
#include <sys/resource.h>

/* Fewer connections cannot serve a cluster. */
#define LEAST_CONNECTIONS 16U

static rlim_t allowed(rlim_t needed)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
        return needed;
    if (limit.rlim_cur >= needed)
        return limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max < needed ? limit.rlim_max : needed;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
    return getrlimit(RLIMIT_NOFILE, &limit) < 0 ? needed : limit.rlim_cur;
}

int fd_limit_for(unsigned wanted, unsigned others, unsigned *ret_connections, struct err *err)
{
    const rlim_t files = allowed((rlim_t)wanted + others);
    const unsigned least = wanted < LEAST_CONNECTIONS ? wanted : LEAST_CONNECTIONS;
    *ret_connections = wanted;
    if (files >= (rlim_t)wanted + others)
        return 0;
    if (files < (rlim_t)least + others)
        return err_set(err, EMFILE,
                       "only %llu files may be open (ulimit -n), should be at least %u: %u for "
                       "clients (limits.connections wants %u), and %u for all other files",
                       (unsigned long long)files, least + others, least, wanted, others);
    *ret_connections = (unsigned)files - others;
    LOG(LOG_WARN, "http",
        LOG_MSG("fewer connections than limits.connections: too few files may be "
                "open (ulimit -n)"),
        LOG_NUM("connections", *ret_connections), LOG_NUM("files", files));
    return 0;
}
