/* child: see child.h. The streams are files in memory: nothing blocks, whatever the child reads
 * and writes first. */
#include "child.h"

#include <spawn.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_STREAMS 4
/* Larger than any answer that is read. */
#define OUTPUT_BYTES_MAX ((rlim_t)1100 * 1024 * 1024)

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

static int spawn(const char *const *argv, const int files[N_STREAMS], pid_t *ret_pid)
{
    posix_spawn_file_actions_t actions;
    int r = posix_spawn_file_actions_init(&actions);
    for (int i = 0; r == 0 && i < N_STREAMS; i++)
        r = posix_spawn_file_actions_adddup2(&actions, files[i], i);
    if (r == 0) /* the words are not changed */
        r = posix_spawnp(ret_pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
    (void)posix_spawn_file_actions_destroy(&actions);
    return -r;
}

/* A child that writes without end is ended by a signal. */
static int spawn_limited(const char *const *argv, const int files[N_STREAMS], pid_t *ret_pid)
{
    struct rlimit before;
    const bool is_known = getrlimit(RLIMIT_FSIZE, &before) == 0;
    struct rlimit limit = {OUTPUT_BYTES_MAX, before.rlim_max};
    if (is_known && before.rlim_cur > limit.rlim_cur)
        (void)setrlimit(RLIMIT_FSIZE, &limit);
    const int r = spawn(argv, files, ret_pid);
    if (is_known)
        (void)setrlimit(RLIMIT_FSIZE, &before);
    return r;
}

int child_run(const char *const *argv, const struct child_streams *streams, int *ret_status,
              struct err *err)
{
    int files[N_STREAMS];
    int status = 0;
    pid_t pid = 0;
    int r = open_all(streams, files);
    if (r == 0)
        r = spawn_limited(argv, files, &pid);
    if (r == 0 && waitpid(pid, &status, 0) < 0)
        r = -errno;
    if (r == 0) {
        read_all(files[1], streams->out);
        read_all(files[2], streams->complaints);
        *ret_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    close_all(files);
    return r < 0 ? err_set(err, -r, "%s: cannot be run: %s", argv[0], strerror(-r)) : 0;
}
