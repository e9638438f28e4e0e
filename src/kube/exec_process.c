/* exec_process: see exec_process.h. That a process has ended is asked for again and again: its
 * signal would go to another thread, a pidfd needs a newer kernel, and its output may be held open
 * by what it leaves running. */
#include "exec_process.h"

#include "base/clock.h"
#include "exec_spawn.h"
#include "last_lines.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ASK_EVERY_MS 20
#define PIPE_PIECES 16

struct process {
    struct exec_child child;
    int stop_fd;
    int64_t timeout_ms, until_ms;
    struct buf *answer;
    struct last_lines said;
    bool has_ended; /* and is no process any more: its number may be another's */
    int status;     /* of waitpid() */
};

/* 0: no more for now; less: nothing more comes, ever. */
static ssize_t read_some(int fd, char *piece, size_t size)
{
    ssize_t n = read(fd, piece, size);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n == 0 ? -1 : n;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

static int take_answer(struct process *process, struct err *err)
{
    char piece[4096];
    ssize_t n = 1;
    while (process->child.out_fd >= 0 && n > 0) {
        n = read_some(process->child.out_fd, piece, sizeof piece);
        if (n < 0)
            close_fd(&process->child.out_fd);
        if (n > 0 && buf_add(process->answer, piece, (size_t)n) < 0)
            return err_set(err, EMSGSIZE, "answers more than %zu bytes", process->answer->max);
    }
    return 0;
}

/* As much as a pipe holds, and no more at a time: it may go on for ever. */
static void take_words(struct process *process)
{
    char piece[4096];
    ssize_t n = 1;
    for (int i = 0; i < PIPE_PIECES && process->child.err_fd >= 0 && n > 0; i++) {
        n = read_some(process->child.err_fd, piece, sizeof piece);
        if (n < 0)
            close_fd(&process->child.err_fd);
        if (n > 0)
            last_lines_add(&process->said, piece, (size_t)n);
    }
}

static int wait_some(struct process *process, struct err *err)
{
    struct pollfd fds[] = {{.fd = process->stop_fd, .events = POLLIN},
                           {.fd = process->child.out_fd, .events = POLLIN},
                           {.fd = process->child.err_fd, .events = POLLIN}};
    if (poll(fds, sizeof fds / sizeof *fds, ASK_EVERY_MS) < 0 && errno != EINTR)
        return err_set(err, errno, "cannot be waited for: %s", strerror(errno));
    if (fds[0].revents != 0)
        return err_set(err, ECANCELED, "was stopped");
    if (clock_ms() >= process->until_ms)
        return err_set(err, ETIMEDOUT, "has not ended in %lld ms", (long long)process->timeout_ms);
    return 0;
}

/* Until it has ended, and what it wrote before is read. */
static int follow(struct process *process, struct err *err)
{
    for (;;) {
        bool is_last = process->has_ended;
        int r = take_answer(process, err);
        take_words(process);
        if (r < 0 || is_last)
            return r;
        process->has_ended = waitpid(process->child.pid, &process->status, WNOHANG) > 0;
        if (!process->has_ended)
            r = wait_some(process, err);
        if (r < 0)
            return r;
    }
}

/* False: there is none, or none of ours. */
static bool await_end(pid_t whose, int *ret_status)
{
    pid_t ended = -1;
    while ((ended = waitpid(whose, ret_status, 0)) < 0 && errno == EINTR)
        continue;
    return ended > 0;
}

/* In a container we may be the first process, to which its orphans come. */
static void kill_all(struct process *process)
{
    int status = 0;
    (void)kill(-process->child.pid, SIGKILL);
    (void)await_end(process->child.pid, &process->status);
    while (await_end(-process->child.pid, &status))
        continue;
}

static int judge(const struct process *process, struct err *err)
{
    if (WIFEXITED(process->status) && WEXITSTATUS(process->status) == 0)
        return 0;
    if (WIFSIGNALED(process->status))
        return err_set(err, EIO, "was ended by signal %d", WTERMSIG(process->status));
    return err_set(err, EIO, "has ended with status %d", WEXITSTATUS(process->status));
}

/* Who, what went wrong, and what it says itself: in one line. */
static int tell(const struct kube_exec *exec, const struct last_lines *said, int code,
                struct err *err)
{
    char text[LAST_LINES_BYTES + 1];
    if (!err)
        return code;
    struct err what = *err;
    (void)last_lines_text(said, text);
    (void)err_set(err, -code, "credential plugin %.100s: %.200s%s%s", exec->command, what.text,
                  *text ? "; it says: " : "", text);
    for (char *p = err->text; *p; p++)
        *p = (unsigned char)*p < ' ' || *p == 0x7f ? ' ' : *p;
    return code;
}

int exec_process_run(const struct kube_exec *exec, const char *info, int64_t timeout_ms,
                     int stop_fd, struct buf *answer, struct err *err)
{
    struct process process = {
        .stop_fd = stop_fd, .timeout_ms = timeout_ms, .answer = answer, .said = {.len = 0}};
    int r = exec_spawn(exec, info, &process.child, err);
    if (r < 0)
        return tell(exec, &process.said, r, err);
    process.until_ms = clock_ms() + timeout_ms;
    r = follow(&process, err);
    if (!process.has_ended)
        kill_all(&process);
    if (r == 0)
        r = judge(&process, err);
    close_fd(&process.child.out_fd);
    close_fd(&process.child.err_fd);
    return r < 0 ? tell(exec, &process.said, r, err) : 0;
}

int exec_process_check(const struct kube_exec *exec, struct err *err)
{
    const struct last_lines nothing = {.len = 0};
    int r = exec_spawn_check(exec, err);
    return r < 0 ? tell(exec, &nothing, r, err) : 0;
}
