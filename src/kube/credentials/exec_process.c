/*
 * exec_process: see exec_priv.h.
 *
 * The plugin runs in a process group of its own, with empty standard input and none of our files;
 * no signal is blocked or ignored. Its end is polled for: SIGCHLD would go to another thread, a
 * pidfd needs a newer kernel, and processes it leaves running may hold its output open.
 */
#include "exec_priv.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PATH "/bin:/usr/bin" /* of posix_spawnp() without PATH */
#define ASK_EVERY_MS 20
#define PIPE_PIECES 16

struct child {
    pid_t pid;
    int out_fd, err_fd; /* its output; non-blocking */
};

struct process {
    struct child child;
    int stop_fd;
    int64_t timeout_ms, until_ms;
    struct buf *answer;
    struct last_lines said;
    bool has_ended; /* reaped: its pid may belong to another process */
    int status;     /* of waitpid() */
};

static void close_fd(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* ---- environment and arguments ---- */

static char *variable(const char *name, const char *value)
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED);
    buf_printf(&text, "%s=%s", name, value);
    return buf_take(&text);
}

static bool is_set(char *const *env, size_t n, const char *name_and_value)
{
    size_t name_len = strcspn(name_and_value, "=") + 1;
    for (size_t i = 0; i < n; i++) {
        if (strncmp(env[i], name_and_value, name_len) == 0)
            return true;
    }
    return false;
}

/* Precedence: KUBERNETES_EXEC_INFO, the kubeconfig (the last of a name), our own environment. */
static char **env_new(const struct kube_exec *exec, const char *info)
{
    size_t n_inherited = 0;
    while (environ[n_inherited])
        n_inherited++;
    char **env = MEM_ARRAY(char *, 1 + exec->n_env + n_inherited + 1);
    size_t n = 0;
    env[n++] = variable("KUBERNETES_EXEC_INFO", info);
    for (size_t i = exec->n_env; i-- > 0;) {
        char *text = variable(exec->env[i].name, exec->env[i].value);
        if (is_set(env, n, text))
            free(text);
        else
            env[n++] = text;
    }
    const size_t n_own = n;
    for (size_t i = 0; i < n_inherited; i++) {
        if (!is_set(env, n_own, environ[i]))
            env[n++] = mem_strdup(environ[i]);
    }
    return env;
}

static void env_free(char **env)
{
    for (char **text = env; *text; text++)
        free(*text);
    free(env);
}

/* The kubeconfig keeps the strings. */
static char **argv_new(const struct kube_exec *exec)
{
    size_t n = 0;
    while (exec->args && exec->args[n])
        n++;
    char **argv = MEM_ARRAY(char *, n + 2);
    argv[0] = exec->command;
    for (size_t i = 0; i < n; i++)
        argv[i + 1] = exec->args[i];
    return argv;
}

/* ---- start ---- */

struct pipes {
    int out[2], err[2]; /* -1: closed */
};

static int open_pipes(struct pipes *pipes, struct err *err)
{
    *pipes = (struct pipes){{-1, -1}, {-1, -1}};
    if (pipe2(pipes->out, O_CLOEXEC) < 0 || pipe2(pipes->err, O_CLOEXEC) < 0 ||
        fcntl(pipes->out[0], F_SETFL, O_NONBLOCK) < 0 ||
        fcntl(pipes->err[0], F_SETFL, O_NONBLOCK) < 0)
        return err_set(err, errno, "no pipe for it: %s", strerror(errno));
    return 0;
}

static void set_attributes(posix_spawnattr_t *attributes)
{
    sigset_t none;
    sigset_t all;
    (void)sigemptyset(&none);
    (void)sigfillset(&all);
    (void)posix_spawnattr_init(attributes);
    (void)posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                   POSIX_SPAWN_SETSIGDEF);
    (void)posix_spawnattr_setpgroup(attributes, 0);
    (void)posix_spawnattr_setsigmask(attributes, &none);
    (void)posix_spawnattr_setsigdefault(attributes, &all);
}

static void set_files(posix_spawn_file_actions_t *files, const struct pipes *pipes)
{
    (void)posix_spawn_file_actions_init(files);
    (void)posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    (void)posix_spawn_file_actions_adddup2(files, pipes->out[1], STDOUT_FILENO);
    (void)posix_spawn_file_actions_adddup2(files, pipes->err[1], STDERR_FILENO);
    /* Libraries may have opened files without O_CLOEXEC. */
    (void)posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1);
}

/* 0 or a positive errno. */
static int spawn(const struct kube_exec *exec, const char *info, const struct pipes *pipes,
                 pid_t *ret_pid)
{
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_t files;
    set_attributes(&attributes);
    set_files(&files, pipes);
    char **argv = argv_new(exec);
    char **env = env_new(exec, info);
    int code = posix_spawnp(ret_pid, exec->command, &files, &attributes, argv, env);
    env_free(env);
    free(argv);
    (void)posix_spawn_file_actions_destroy(&files);
    (void)posix_spawnattr_destroy(&attributes);
    return code;
}

static int refuse(const struct kube_exec *exec, int code, struct err *err)
{
    const char *hint = exec->install_hint;
    return err_set(err, code, "cannot be run: %s%s%s", strerror(code), hint ? ": " : "",
                   hint ? hint : "");
}

static int start(const struct kube_exec *exec, const char *info, struct child *ret_child,
                 struct err *err)
{
    struct pipes pipes;
    pid_t pid = -1;
    int r = open_pipes(&pipes, err);
    int code = r == 0 ? spawn(exec, info, &pipes, &pid) : 0;
    if (code != 0)
        r = refuse(exec, code, err);
    close_fd(&pipes.out[1]);
    close_fd(&pipes.err[1]);
    if (r < 0) {
        close_fd(&pipes.out[0]);
        close_fd(&pipes.err[0]);
        return r;
    }
    *ret_child = (struct child){pid, pipes.out[0], pipes.err[0]};
    return 0;
}

/* ---- check without running ---- */

/* 0 or a positive errno. */
static int judge_path(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) < 0)
        return errno;
    if (!S_ISREG(facts.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* Searches PATH for an executable file; an empty entry is the current folder. */
static int judge_in_path(const char *name)
{
    const char *folder = getenv("PATH");
    int worst = ENOENT;
    folder = folder ? folder : DEFAULT_PATH;
    for (;;) {
        size_t len = strcspn(folder, ":");
        struct buf path;
        buf_init(&path, BUF_UNBOUNDED);
        buf_printf(&path, "%.*s%s%s", (int)len, folder, len > 0 ? "/" : "", name);
        int code = judge_path(buf_text(&path));
        buf_fini(&path);
        if (code == 0)
            return 0;
        worst = code == EACCES ? EACCES : worst;
        if (!folder[len])
            return worst;
        folder += len + 1;
    }
}

static int check(const struct kube_exec *exec, struct err *err)
{
    bool is_path = strchr(exec->command, '/');
    int code = is_path ? judge_path(exec->command) : judge_in_path(exec->command);
    return code == 0 ? 0 : refuse(exec, code, err);
}

/* ---- run to the end ---- */

/* 0: nothing for now; < 0: end of file or error. */
static ssize_t read_some(int fd, char *piece, size_t size)
{
    ssize_t n = read(fd, piece, size);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n == 0 ? -1 : n;
}

static int take_answer(struct process *process, struct err *err)
{
    char piece[4096];
    ssize_t n = 1;
    while (process->child.out_fd >= 0 && n > 0) {
        n = read_some(process->child.out_fd, piece, sizeof piece);
        if (n < 0)
            close_fd(&process->child.out_fd);
        if (n > 0)
            buf_add(process->answer, piece, (size_t)n);
        if (process->answer->overflowed)
            return err_set(err, EMSGSIZE, "answers more than %zu bytes", process->answer->max);
    }
    return 0;
}

/* Reads at most what a pipe holds: the plugin may write without end. */
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

/* Returns when the process has ended and its earlier output is read. */
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

/* False: no such child. */
static bool await_end(pid_t whose, int *ret_status)
{
    pid_t ended = -1;
    while ((ended = waitpid(whose, ret_status, 0)) < 0 && errno == EINTR)
        continue;
    return ended > 0;
}

/* In a container we may be process 1, which inherits its orphans. */
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

/* One line: the command, the error, the end of its standard error. */
static int complete_error(const struct kube_exec *exec, const struct last_lines *said, int code,
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
    int r = start(exec, info, &process.child, err);
    if (r < 0)
        return complete_error(exec, &process.said, r, err);
    process.until_ms = clock_ms() + timeout_ms;
    r = follow(&process, err);
    if (!process.has_ended)
        kill_all(&process);
    if (r == 0)
        r = judge(&process, err);
    close_fd(&process.child.out_fd);
    close_fd(&process.child.err_fd);
    return r < 0 ? complete_error(exec, &process.said, r, err) : 0;
}

int exec_process_check(const struct kube_exec *exec, struct err *err)
{
    const struct last_lines nothing = {.len = 0};
    int r = check(exec, err);
    return r < 0 ? complete_error(exec, &nothing, r, err) : 0;
}
