/* exec_process: plugins that behave, and those that do not. They are shell scripts. */
#include "kube/credentials/exec_priv.h"

#include "temp_folder.h"
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define GENEROUS_MS 60000
#define ANSWER_MAX ((size_t)64 * 1024)

static struct temp_folder folder;
static int n_late; /* how often the time was asked for since the plugin wrote the file "late" */
static char command[100]; /* the plugin */
static struct buf answer;
static struct err err;

int64_t __real_clock_ms(void);
int64_t __wrap_clock_ms(void);

/* exec_process asks in each round, after it has read. */
int64_t __wrap_clock_ms(void)
{
    if (access(temp_folder_path(&folder, "late"), F_OK) == 0)
        n_late++;
    return __real_clock_ms() + (n_late > 1 ? GENEROUS_MS : 0);
}

static int set_up(void **state)
{
    (void)state;
    temp_folder_init(&folder);
    n_late = 0;
    (void)snprintf(command, sizeof command, "%s", temp_folder_path(&folder, "plugin"));
    buf_init(&answer, ANSWER_MAX);
    err.text[0] = '\0';
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    temp_folder_fini(&folder);
    buf_fini(&answer);
    return 0;
}

static int run(const char *script, int64_t timeout_ms, int stop_fd)
{
    const struct kube_exec exec = {.command = command};
    (void)temp_folder_script(&folder, "plugin", script);
    return exec_process_run(&exec, "{}", timeout_ms, stop_fd, &answer, &err);
}

static void assert_fault(const char *message)
{
    char expected[ERR_TEXT_MAX];
    (void)snprintf(expected, sizeof expected, "credential plugin %s: %s", command, message);
    assert_string_equal(err.text, expected);
}

static void test_the_plugins_output_is_read(void **state)
{
    (void)state;
    assert_int_equal(run("echo words >&2; echo one; echo two", GENEROUS_MS, -1), 0);
    assert_string_equal(buf_text(&answer), "one\ntwo\n");
}

static void test_the_plugin_gets_arguments_and_environment(void **state)
{
    (void)state;
    char echo[] = "plugin", one[] = "a b", two[] = "";
    char *args[] = {one, two, NULL};
    char names[][8] = {"A", "B", "A", "MINE"};
    char values[][8] = {"first", "x=y", "last", "theirs"};
    struct kube_env_var env[4];
    for (size_t i = 0; i < 4; i++)
        env[i] = (struct kube_env_var){names[i], values[i]};
    char path[4096];
    (void)snprintf(path, sizeof path, "%s:%s", folder.path, getenv("PATH"));
    char *before = strdup(getenv("PATH"));
    (void)setenv("PATH", path, 1);
    (void)setenv("MINE", "ours", 1);
    (void)setenv("INHERITED", "yes", 1);
    (void)setenv("KUBERNETES_EXEC_INFO", "old", 1);
    (void)temp_folder_script(&folder, "plugin",
                             "echo \"$1,$2,$#,$A,$B,$MINE,$INHERITED,$KUBERNETES_EXEC_INFO\"; cat");
    const struct kube_exec exec = {.command = echo, .args = args, .env = env, .n_env = 4};
    assert_int_equal(exec_process_run(&exec, "{info}", GENEROUS_MS, -1, &answer, &err), 0);
    assert_string_equal(buf_text(&answer), "a b,,2,last,x=y,theirs,yes,{info}\n");
    (void)setenv("PATH", before, 1);
    free(before);
}

static void test_the_plugin_inherits_no_descriptors(void **state)
{
    (void)state;
    int leak = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int other = fcntl(leak, F_DUPFD, 50); /* without O_CLOEXEC */
    assert_int_equal(run("exec ls /proc/self/fd", GENEROUS_MS, -1), 0);
    assert_string_equal(buf_text(&answer), "0\n1\n2\n3\n"); /* 3: the folder that ls reads */
    (void)close(leak);
    (void)close(other);
}

/* A line of /proc/self/status. */
static unsigned long long signals_of(const char *name)
{
    const char *at = strstr(buf_text(&answer), name);
    assert_non_null(at);
    return at ? strtoull(at + strlen(name), NULL, 16) : 0;
}

static void test_the_plugin_has_default_signals(void **state)
{
    (void)state;
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    void (*handler)(int) = signal(SIGPIPE, SIG_IGN);
    int r = run("exec grep -E '^Sig(Blk|Ign)' /proc/self/status", GENEROUS_MS, -1);
    (void)signal(SIGPIPE, handler);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(r, 0);
    assert_true(signals_of("SigBlk:") == 0);
    assert_true((signals_of("SigIgn:") & 0x7fffffff) == 0); /* 32 and 33 belong to the C library */
}

static void test_a_failure_reports_the_last_output(void **state)
{
    (void)state;
    assert_int_equal(
        run("echo SECRET; printf 'no\\tlogin:\\n\\033[1m run x login\\n\\n' >&2; exit 3",
            GENEROUS_MS, -1),
        -EIO);
    assert_fault("has ended with status 3; it says: no login: [1m run x login");
    assert_int_equal(run("exit 1", GENEROUS_MS, -1), -EIO);
    assert_fault("has ended with status 1");
    assert_int_equal(run("kill -TERM $$", GENEROUS_MS, -1), -EIO);
    assert_fault("was ended by signal 15");
}

static void test_the_reported_output_is_bounded(void **state)
{
    (void)state;
    assert_int_equal(run("i=0; while [ $i -lt 2000 ]; do echo \"line $i\" >&2; i=$((i+1)); done; "
                         "exit 1",
                         GENEROUS_MS, -1),
                     -EIO);
    assert_non_null(strstr(err.text, "; it says: "));
    assert_non_null(strstr(err.text, " line 1998 line 1999"));
    assert_null(strstr(err.text, "line 1900"));
}

static void test_an_absent_plugin_is_an_error(void **state)
{
    (void)state;
    char hint[] = "install it:\n  apt install it";
    const struct kube_exec exec = {.command = command, .install_hint = hint};
    assert_int_equal(exec_process_run(&exec, "{}", GENEROUS_MS, -1, &answer, &err), -ENOENT);
    assert_fault("cannot be run: No such file or directory: install it:   apt install it");
    (void)temp_folder_write(&folder, "plugin", "no program");
    assert_int_equal(exec_process_run(&exec, "{}", GENEROUS_MS, -1, &answer, NULL), -EACCES);
    assert_int_equal(chmod(command, 0700), 0);
    assert_int_equal(exec_process_run(&exec, "{}", GENEROUS_MS, -1, &answer, NULL), -ENOEXEC);
}

/* The plugin's processes hold a pipe, which ends when all of them have exited. */
static int open_lifeline(void)
{
    assert_int_equal(mkfifo(temp_folder_path(&folder, "lifeline"), 0600), 0);
    int fd = open(temp_folder_path(&folder, "lifeline"), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_SETFL, 0), 0);
    return fd;
}

static void await_end(int lifeline)
{
    char c;
    assert_int_equal(read(lifeline, &c, 1), 0);
    (void)close(lifeline);
}

#define HOLD_LIFELINE "exec 9>\"${0%/*}/lifeline\"; "

/* Its time is over once it has said what it says, and that has been read. */
static void test_a_slow_plugin_is_killed_with_its_children(void **state)
{
    (void)state;
    int lifeline = open_lifeline();
    assert_int_equal(run(HOLD_LIFELINE "trap '' TERM; echo wait >&2; : >\"${0%/*}/late\"; "
                                       "sleep 1000 & sleep 1000",
                         GENEROUS_MS, -1),
                     -ETIMEDOUT);
    assert_fault("has not ended in 60000 ms; it says: wait");
    await_end(lifeline);
}

/* As process 1 of a container, which inherits every orphan. */
static void test_a_killed_plugin_leaves_no_zombie(void **state)
{
    (void)state;
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    assert_int_equal(run("sleep 1000 & sleep 1000 & echo; sleep 1000", 500, -1), -ETIMEDOUT);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
    assert_int_equal(errno, ECHILD);
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 0), 0);
}

static void test_a_plugin_with_endless_output_is_killed(void **state)
{
    (void)state;
    int lifeline = open_lifeline();
    assert_int_equal(run(HOLD_LIFELINE "while :; do echo 0123456789abcdef; done", GENEROUS_MS, -1),
                     -EMSGSIZE);
    assert_fault("answers more than 65536 bytes");
    await_end(lifeline);
}

static void test_a_stop_kills_the_plugin(void **state)
{
    (void)state;
    int lifeline = open_lifeline();
    int stop_fd = eventfd(1, EFD_CLOEXEC);
    assert_int_equal(run(HOLD_LIFELINE "sleep 1000", GENEROUS_MS, stop_fd), -ECANCELED);
    assert_fault("was stopped");
    (void)close(stop_fd);
    await_end(lifeline);
}

static void test_processes_left_by_the_plugin_are_not_awaited(void **state)
{
    (void)state;
    int lifeline = open_lifeline();
    assert_int_equal(run(HOLD_LIFELINE "sleep 1000 & echo $!", GENEROUS_MS, -1), 0);
    pid_t left = (pid_t)strtol(buf_text(&answer), NULL, 10);
    assert_true(left > 1);
    assert_int_equal(kill(left, SIGKILL), 0);
    await_end(lifeline);
}

static void test_a_plugin_may_close_its_output_first(void **state)
{
    (void)state;
    assert_int_equal(run("echo done; exec >&- 2>&-; exec true", GENEROUS_MS, -1), 0);
    assert_string_equal(buf_text(&answer), "done\n");
}

static void test_last_lines_keep_the_end(void **state)
{
    (void)state;
    struct last_lines lines = {.len = 0};
    char text[LAST_LINES_BYTES + 1];
    char long_text[1000];
    assert_string_equal(last_lines_text(&lines, text), "");
    last_lines_add(&lines, "\n a\tb\n", 6);
    last_lines_add(&lines,
                   "\r\n\x7f"
                   "c\n\n",
                   6);
    assert_string_equal(last_lines_text(&lines, text), "a b c");
    memset(long_text, 'x', sizeof long_text);
    last_lines_add(&lines, long_text, sizeof long_text);
    assert_string_equal(last_lines_text(&lines, text), "");
    last_lines_add(&lines, " end", 4);
    assert_string_equal(last_lines_text(&lines, text), "end");
    last_lines_add(&lines, " of it", 6);
    assert_string_equal(last_lines_text(&lines, text), "end of it");
}

#define WITH_FILES(test) cmocka_unit_test_setup_teardown((test), set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FILES(test_the_plugins_output_is_read),
        WITH_FILES(test_the_plugin_gets_arguments_and_environment),
        WITH_FILES(test_the_plugin_inherits_no_descriptors),
        WITH_FILES(test_the_plugin_has_default_signals),
        WITH_FILES(test_a_failure_reports_the_last_output),
        WITH_FILES(test_the_reported_output_is_bounded),
        WITH_FILES(test_an_absent_plugin_is_an_error),
        WITH_FILES(test_a_slow_plugin_is_killed_with_its_children),
        WITH_FILES(test_a_killed_plugin_leaves_no_zombie),
        WITH_FILES(test_a_plugin_with_endless_output_is_killed),
        WITH_FILES(test_a_stop_kills_the_plugin),
        WITH_FILES(test_processes_left_by_the_plugin_are_not_awaited),
        WITH_FILES(test_a_plugin_may_close_its_output_first),
        cmocka_unit_test(test_last_lines_keep_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
