/* child: see child.h. The streams are files in memory: nothing blocks, whatever the child reads
 * and writes first. */
#include "child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_STREAMS 4
/* A child may write so much more than is read. */
#define MORE_OUTPUT_BYTES ((rlim_t)1024 * 1024)

static void close_all(const int files[N_STREAMS])
{
    for (int i = 0; i < N_STREAMS; i++) {
        if (files[i] >= 0)
            (void)close(files[i]);
    }
}

static int write_all(int file, const char *bytes, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(file, bytes, len);
        if (n < 0)
            return -errno;
        bytes += n;
        len -= (size_t)n;
    }
    return lseek(file, 0, SEEK_SET) < 0 ? -errno : 0;
}

static void read_all(int file, struct buf *out)
{
    char piece[16384];
    off_t at = 0;
    ssize_t n = 0;
    while ((n = pread(file, piece, sizeof piece, at)) > 0) {
        buf_add(out, piece, (size_t)n);
        at += n;
    }
}

static int open_all(const struct child_streams *streams, int ret_files[N_STREAMS])
{
    for (int i = 0; i < N_STREAMS; i++)
        ret_files[i] = memfd_create("kubectl-gpu", MFD_CLOEXEC);
    for (int i = 0; i < N_STREAMS; i++) {
        if (ret_files[i] < 0)
            return -errno;
    }
    const int r = write_all(ret_files[0], streams->in, streams->len);
    const char *settings = streams->settings ? streams->settings : "";
    return r < 0 ? r : write_all(ret_files[CHILD_SETTINGS], settings, strlen(settings));
}

/* The soft limit of the child's files, and the hard one as it was. */
static struct rlimit limit_of_output(const struct buf *out)
{
    struct rlimit limit = {RLIM_INFINITY, RLIM_INFINITY};
    (void)getrlimit(RLIMIT_FSIZE, &limit);
    if (limit.rlim_cur > (rlim_t)out->max + MORE_OUTPUT_BYTES)
        limit.rlim_cur = (rlim_t)out->max + MORE_OUTPUT_BYTES;
    return limit;
}

/* A file may have the number of another stream. */
static int place_streams(const int files[N_STREAMS])
{
    int copies[N_STREAMS];
    for (int i = 0; i < N_STREAMS; i++) {
        copies[i] = fcntl(files[i], F_DUPFD_CLOEXEC, N_STREAMS);
        if (copies[i] < 0)
            return -errno;
    }
    for (int i = 0; i < N_STREAMS; i++) {
        if (dup2(copies[i], i) < 0)
            return -errno;
    }
    return 0;
}

/* Between fork() and exec(). The system ends a child that writes without end, and one whose parent
 * ends. */
static int become(const char *const *argv, const int files[N_STREAMS], const struct rlimit *limit,
                  bool has_group)
{
    sigset_t none; /* a thread that waits for signals has blocked them */
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    if (has_group && setpgid(0, 0) < 0)
        return -errno;
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || setrlimit(RLIMIT_FSIZE, limit) < 0)
        return -errno;
    const int r = place_streams(files);
    if (r == 0)
        (void)execvp(argv[0], (char *const *)(uintptr_t)argv); /* the words are not changed */
    return r < 0 ? r : -errno;
}

/* Over a pipe that exec() closes, the child reports why it could not become the program. */
static int spawn(const char *const *argv, const int files[N_STREAMS], const struct rlimit *limit,
                 bool has_group, pid_t *ret_pid)
{
    int report[2];
    int r = 0;
    const pid_t parent = getpid();
    if (pipe2(report, O_CLOEXEC) < 0)
        return -errno;
    const pid_t pid = fork();
    if (pid == 0) {
        r = become(argv, files, limit, has_group);
        if (getppid() == parent)
            (void)!write(report[1], &r, sizeof r);
        _exit(127);
    }
    r = pid < 0 ? -errno : 0;
    (void)close(report[1]);
    if (pid > 0 && read(report[0], &r, sizeof r) > 0)
        (void)waitpid(pid, NULL, 0);
    (void)close(report[0]);
    *ret_pid = pid;
    return r;
}

/* Programs end in their own ways when they may not write on. */
static bool is_full(int file, const struct rlimit *limit)
{
    struct stat state;
    return fstat(file, &state) == 0 && (rlim_t)state.st_size >= limit->rlim_cur;
}

static int await_end(pid_t pid, const struct child_bound *bound)
{
    const int end = pidfd_open(pid, 0);
    if (end < 0)
        return -errno;
    struct pollfd ends[] = {{.fd = end, .events = POLLIN}, {.fd = bound->stop, .events = POLLIN}};
    const int n = poll(ends, 2, bound->limit_ms);
    const bool has_ended = ends[0].revents != 0;
    (void)close(end);
    if (n < 0)
        return -EINTR;
    return has_ended ? 0 : n == 0 ? -ETIMEDOUT : -ECANCELED;
}

static int wait_for(pid_t pid, const struct child_bound *bound, int *ret_status)
{
    const int r = bound ? await_end(pid, bound) : 0;
    if (r < 0)
        (void)kill(-pid, SIGKILL);
    return waitpid(pid, ret_status, 0) < 0 ? -errno : r;
}

static int complain(const char *name, int r, struct err *err)
{
    if (r == -EFBIG)
        return err_set(err, EFBIG, "%s: its answer is too large", name);
    if (r == -ETIMEDOUT)
        return err_set(err, ETIMEDOUT, "%s: gave no answer in time", name);
    if (r == -ECANCELED)
        return err_set(err, ECANCELED, "%s: was ended before it answered", name);
    return err_set(err, -r, "%s: cannot be run: %s", name, strerror(-r));
}

int child_run(const char *const *argv, const struct child_streams *streams, int *ret_status,
              struct err *err)
{
    const struct rlimit limit = limit_of_output(streams->out);
    int files[N_STREAMS];
    int status = 0;
    pid_t pid = 0;
    int r = open_all(streams, files);
    if (r == 0)
        r = spawn(argv, files, &limit, streams->bound, &pid);
    if (r == 0)
        r = wait_for(pid, streams->bound, &status);
    if (r == 0 && (is_full(files[1], &limit) || is_full(files[2], &limit)))
        r = -EFBIG;
    if (r == 0) {
        read_all(files[1], streams->out);
        read_all(files[2], streams->complaints);
        *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close_all(files);
    return r < 0 ? complain(argv[0], r, err) : 0;
}
