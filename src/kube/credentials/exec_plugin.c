/* exec_plugin: see exec_plugin.h. exec_pace.c decides when to run. */
#include "exec_plugin.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "exec_pace.h"
#include "exec_process.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX ((size_t)1024 * 1024)

struct exec_plugin {
    const struct kube_target *target;
    void (*renewed)(void *context, struct exec_credential *credential);
    void *context;
    pthread_t thread;
    int stop_fd; /* becomes readable at the end */
    struct mutex lock;
    pthread_cond_t changed;
    struct exec_pace pace; /* the lock guards pace and stops */
    bool stops;
};

static int run_once(const struct kube_target *target, int stop_fd,
                    struct exec_credential *ret_credential, struct err *err)
{
    char *info CLEANUP(mem_free_ptr) = NULL;
    struct buf answer;
    int r = exec_credential_ask(target, &info, err);
    if (r < 0)
        return r;
    buf_init(&answer, ANSWER_BYTES_MAX);
    r = exec_process_run(&target->exec, info, EXEC_PLUGIN_TIMEOUT_MS, stop_fd, &answer, err);
    if (r == 0) {
        r = exec_credential_parse(buf_text(&answer), answer.len, ret_credential, err);
        if (r < 0)
            err_prefix(err, "credential plugin %.100s: ", target->exec.command);
    }
    buf_fini(&answer);
    return r;
}

static int64_t lasts_ms(const struct exec_credential *credential)
{
    int64_t now_s = (int64_t)time(NULL);
    if (credential->expires_s == INT64_MAX)
        return CLOCK_NEVER;
    return (credential->expires_s - now_s) * 1000;
}

/* True: run now; false: stop. */
static bool wait_until_due(struct exec_plugin *plugin)
{
    mutex_lock(&plugin->lock);
    while (!plugin->stops && clock_ms() < plugin->pace.due_ms) {
        const int64_t due_ms = plugin->pace.due_ms;
        const struct timespec due = clock_moment(due_ms);
        if (due_ms == CLOCK_NEVER)
            (void)pthread_cond_wait(&plugin->changed, &plugin->lock.native);
        else
            (void)pthread_cond_timedwait(&plugin->changed, &plugin->lock.native, &due);
    }
    bool is_due = !plugin->stops;
    mutex_unlock(&plugin->lock);
    return is_due;
}

static void note(struct exec_plugin *plugin, const struct exec_credential *credential)
{
    mutex_lock(&plugin->lock);
    if (credential)
        exec_pace_succeeded(&plugin->pace, clock_ms(), lasts_ms(credential));
    else
        exec_pace_failed(&plugin->pace, clock_ms());
    mutex_unlock(&plugin->lock);
}

static void *renew(void *context)
{
    struct exec_plugin *plugin = context;
    while (wait_until_due(plugin)) {
        struct exec_credential credential = {0};
        struct err err;
        int r = run_once(plugin->target, plugin->stop_fd, &credential, &err);
        note(plugin, r == 0 ? &credential : NULL);
        if (r == 0)
            plugin->renewed(plugin->context, &credential);
        else if (r != -ECANCELED)
            LOG(LOG_WARN, "credentials",
                LOG_MSG("the credential plugin failed: keeping the old credential"),
                LOG_STR("err", err.text));
    }
    return NULL;
}

/* Signals are for the main thread. */
static int start_thread(struct exec_plugin *plugin, struct err *err)
{
    sigset_t all;
    sigset_t before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    int code = pthread_create(&plugin->thread, NULL, renew, plugin);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code == 0 ? 0 : err_set(err, code, "no thread for a plugin: %s", strerror(code));
}

static void init_lock(struct exec_plugin *plugin)
{
    clock_condition_init(&plugin->changed);
    mutex_init(&plugin->lock);
}

static void destroy(struct exec_plugin *plugin)
{
    (void)pthread_cond_destroy(&plugin->changed);
    mutex_fini(&plugin->lock);
    (void)close(plugin->stop_fd);
    free(plugin);
}

int exec_plugin_new(const struct kube_target *target,
                    void (*renewed)(void *context, struct exec_credential *credential),
                    void *context, struct exec_plugin **ret_plugin,
                    struct exec_credential *ret_first, struct err *err)
{
    struct exec_credential first = {0};
    int stop_fd = eventfd(0, EFD_CLOEXEC);
    if (stop_fd < 0)
        return err_set(err, errno, "no eventfd for a plugin: %s", strerror(errno));
    int r = run_once(target, stop_fd, &first, err);
    if (r < 0) {
        (void)close(stop_fd);
        return r;
    }
    struct exec_plugin *plugin = MEM_NEW(struct exec_plugin);
    *plugin = (struct exec_plugin){
        .target = target, .renewed = renewed, .context = context, .stop_fd = stop_fd};
    init_lock(plugin);
    note(plugin, &first);
    r = start_thread(plugin, err);
    if (r < 0) {
        exec_credential_fini(&first);
        destroy(plugin);
        return r;
    }
    *ret_first = first;
    *ret_plugin = plugin;
    return 0;
}

int exec_plugin_check(const struct kube_target *target, struct err *err)
{
    char *info CLEANUP(mem_free_ptr) = NULL;
    int r = exec_credential_ask(target, &info, err);
    return r < 0 ? r : exec_process_check(&target->exec, err);
}

void exec_plugin_free(struct exec_plugin *plugin)
{
    if (!plugin)
        return;
    mutex_lock(&plugin->lock);
    plugin->stops = true;
    (void)pthread_cond_signal(&plugin->changed);
    mutex_unlock(&plugin->lock);
    (void)eventfd_write(plugin->stop_fd, 1);
    (void)pthread_join(plugin->thread, NULL);
    destroy(plugin);
}

void exec_plugin_ask(struct exec_plugin *plugin)
{
    mutex_lock(&plugin->lock);
    exec_pace_ask(&plugin->pace, clock_ms());
    (void)pthread_cond_signal(&plugin->changed);
    mutex_unlock(&plugin->lock);
}
