/* exec_spawn: see exec_spawn.h. */
#include "exec_spawn.h"

#include "base/buf.h"
#include "base/mem.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_PATH "/bin:/usr/bin" /* posix_spawnp()'s, where there is no PATH */
#define VARIABLE_BYTES_MAX ((size_t)4 * 1024 * 1024)

/* ---- what it is told ---- */

static char *variable(const char *name, const char *value)
{
    struct buf text;
    buf_init(&text, VARIABLE_BYTES_MAX);
    (void)buf_printf(&text, "%s=%s", name, value);
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

/* Ours, then what the kubeconfig says (of one name the last), then what we have ourselves. */
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

/* The strings stay the kubeconfig's. */
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

/* ---- its beginning ---- */

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

static void close_fd(int fd)
{
    if (fd >= 0)
        (void)close(fd);
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
    /* Libraries may have opened something without O_CLOEXEC. */
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

int exec_spawn(const struct kube_exec *exec, const char *info, struct exec_child *ret_child,
               struct err *err)
{
    struct pipes pipes;
    pid_t pid = -1;
    int r = open_pipes(&pipes, err);
    int code = r == 0 ? spawn(exec, info, &pipes, &pid) : 0;
    if (code != 0)
        r = refuse(exec, code, err);
    close_fd(pipes.out[1]);
    close_fd(pipes.err[1]);
    if (r < 0) {
        close_fd(pipes.out[0]);
        close_fd(pipes.err[0]);
        return r;
    }
    *ret_child = (struct exec_child){pid, pipes.out[0], pipes.err[0]};
    return 0;
}

/* ---- without beginning ---- */

/* 0 or a positive errno. */
static int judge(const char *path)
{
    struct stat facts;
    if (stat(path, &facts) < 0)
        return errno;
    if (!S_ISREG(facts.st_mode))
        return EACCES;
    return faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) == 0 ? 0 : errno;
}

/* In the first folder of PATH that has one which may be run; an empty name is the current folder.
 */
static int judge_in_path(const char *name)
{
    const char *folder = getenv("PATH");
    int worst = ENOENT;
    folder = folder ? folder : DEFAULT_PATH;
    for (;;) {
        size_t len = strcspn(folder, ":");
        struct buf path;
        buf_init(&path, VARIABLE_BYTES_MAX);
        (void)buf_printf(&path, "%.*s%s%s", (int)len, folder, len > 0 ? "/" : "", name);
        int code = judge(buf_text(&path));
        buf_fini(&path);
        if (code == 0)
            return 0;
        worst = code == EACCES ? EACCES : worst;
        if (!folder[len])
            return worst;
        folder += len + 1;
    }
}

int exec_spawn_check(const struct kube_exec *exec, struct err *err)
{
    bool is_path = strchr(exec->command, '/');
    int code = is_path ? judge(exec->command) : judge_in_path(exec->command);
    return code == 0 ? 0 : refuse(exec, code, err);
}
