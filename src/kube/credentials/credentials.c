/* credentials: see include/kube/credentials.h. The caller's thread reads the token file again (it
 * is small and local); a plugin has its own thread (exec_plugin.c). */
#include "kube/credentials.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "exec_priv.h"
#include "kube/config/config_priv.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

/* ---- a credential plugin and the thread that runs it before its credential expires ---- */

#define EXEC_PLUGIN_TIMEOUT_MS 30000

struct exec_plugin;

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

/* Borrows target until exec_plugin_free(). Runs the plugin once and waits for it, before the thread
 * starts; the caller owns that credential. The thread calls renewed() with each later one, which
 * then owns it. */
static int exec_plugin_new(const struct kube_target *target,
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

/* Reports the errors that show without running the plugin. */
static int exec_plugin_check(const struct kube_target *target, struct err *err)
{
    char *info CLEANUP(mem_free_ptr) = NULL;
    int r = exec_credential_ask(target, &info, err);
    return r < 0 ? r : exec_process_check(&target->exec, err);
}

/* Kills a running plugin. NULL is allowed. */
static void exec_plugin_free(struct exec_plugin *plugin)
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

/* The API server has rejected the credential: run soon. From any thread. */
static void exec_plugin_ask(struct exec_plugin *plugin)
{
    mutex_lock(&plugin->lock);
    exec_pace_ask(&plugin->pace, clock_ms());
    (void)pthread_cond_signal(&plugin->changed);
    mutex_unlock(&plugin->lock);
}

/* ---- credentials ---- */

#define REREAD_MS 60000
#define REREAD_REFUSED_MS 1000

struct kube_credentials {
    const struct kube_target *target;
    char *name;
    struct exec_plugin *plugin; /* NULL: none */
    struct mutex lock;          /* guards all that follows */
    char *token;                /* NULL: none */
    char *cert_pem, *key_pem;   /* of the plugin; NULL: none */
    uint64_t version;
    uint64_t refused_version;
    int64_t reread_ms;         /* when to read the token file again; 0: not set yet */
    int64_t reread_refused_ms; /* the same, while the version is rejected; 0: at once */
    bool warned;               /* logged that it cannot be read */
    void (*changed)(void *context);
    void *context;
};

/* ---- changes: with the lock held ---- */

static bool is_same(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* Takes ownership of new_text; returns whether it differs. */
static bool replace(char **text, char *new_text)
{
    bool differs = !is_same(*text, new_text);
    free(*text);
    *text = new_text;
    return differs;
}

static bool is_refused(const struct kube_credentials *credentials)
{
    return credentials->refused_version == credentials->version;
}

static bool is_reread_due(struct kube_credentials *credentials, int64_t now_ms)
{
    if (!credentials->target->token_file)
        return false;
    if (is_refused(credentials))
        return now_ms >= credentials->reread_refused_ms;
    if (credentials->reread_ms == 0)
        credentials->reread_ms = now_ms + REREAD_MS;
    return now_ms >= credentials->reread_ms;
}

/* On failure the old token stays. */
static bool reread(struct kube_credentials *credentials, int64_t now_ms)
{
    char *token = NULL;
    struct err err;
    credentials->reread_ms = now_ms + REREAD_MS;
    if (is_refused(credentials))
        credentials->reread_refused_ms = now_ms + REREAD_REFUSED_MS;
    if (token_from_file(credentials->target->token_file, &token, &err) < 0) {
        if (!credentials->warned)
            LOG(LOG_WARN, "credentials",
                LOG_MSG("the token file is unusable: keeping the old token"),
                LOG_STR("err", err.text));
        credentials->warned = true;
        return false;
    }
    credentials->warned = false;
    if (!replace(&credentials->token, token))
        return false;
    credentials->version++;
    return true;
}

/* Calls without the lock: the callee may get the identity at once. */
static void notify_change(struct kube_credentials *credentials)
{
    mutex_lock(&credentials->lock);
    void (*changed)(void *context) = credentials->changed;
    void *context = credentials->context;
    mutex_unlock(&credentials->lock);
    if (changed)
        changed(context);
}

static void on_renewed(void *context, struct exec_credential *credential)
{
    struct kube_credentials *credentials = context;
    mutex_lock(&credentials->lock);
    bool token_differs = replace(&credentials->token, credential->token);
    bool cert_differs = replace(&credentials->cert_pem, credential->cert_pem);
    bool key_differs = replace(&credentials->key_pem, credential->key_pem);
    bool differs = token_differs || cert_differs || key_differs;
    if (differs)
        credentials->version++;
    mutex_unlock(&credentials->lock);
    if (differs)
        notify_change(credentials);
}

static int run_plugin(struct kube_credentials *credentials, struct err *err)
{
    struct exec_credential first = {.token = NULL};
    int r = exec_plugin_new(credentials->target, on_renewed, credentials, &credentials->plugin,
                            &first, err);
    if (r < 0)
        return r;
    mutex_lock(&credentials->lock);
    if (credentials->version == 1) { /* else the thread has stored a newer one */
        credentials->token = first.token;
        credentials->cert_pem = first.cert_pem;
        credentials->key_pem = first.key_pem;
    } else {
        exec_credential_fini(&first);
    }
    mutex_unlock(&credentials->lock);
    return 0;
}

static int find_first(struct kube_credentials *credentials, struct err *err)
{
    const struct kube_target *target = credentials->target;
    if (target->exec.command)
        return run_plugin(credentials, err);
    if (target->token_file)
        return token_from_file(target->token_file, &credentials->token, err);
    if (target->token)
        credentials->token = mem_strdup(target->token);
    return 0;
}

static char *name_of(const struct kube_target *target)
{
    const char *what = "a caller without credentials";
    const char *whose = "";
    char *name = NULL;
    if (target->exec.command) {
        what = "the credential of the plugin ";
        whose = target->exec.command;
    } else if (target->token_file || target->token) {
        what = "the token of ";
        whose = target->token_file ? target->token_file : "the kubeconfig";
    } else if (target->cert_pem || target->cert_file) {
        what = "the client certificate of ";
        whose = target->cert_pem ? "the kubeconfig" : target->cert_file;
    }
    if (asprintf(&name, "%s%s", what, whose) < 0)
        abort();
    return name;
}

int kube_credentials_check(const struct kube_target *target, struct err *err)
{
    if (target->exec.command)
        return exec_plugin_check(target, err);
    if (!target->token_file)
        return 0;
    char *token CLEANUP(mem_free_ptr) = NULL;
    return token_from_file(target->token_file, &token, err);
}

int kube_credentials_new(const struct kube_target *target,
                         struct kube_credentials **ret_credentials, struct err *err)
{
    struct kube_credentials *credentials = MEM_NEW(struct kube_credentials);
    credentials->target = target;
    credentials->name = name_of(target);
    credentials->version = 1;
    mutex_init(&credentials->lock);
    int r = find_first(credentials, err);
    if (r < 0)
        kube_credentials_free(credentials);
    else
        *ret_credentials = credentials;
    return r;
}

void kube_credentials_free(struct kube_credentials *credentials)
{
    if (!credentials)
        return;
    exec_plugin_free(credentials->plugin);
    mutex_fini(&credentials->lock);
    free(credentials->name);
    free(credentials->token);
    free(credentials->cert_pem);
    free(credentials->key_pem);
    free(credentials);
}

const char *kube_credentials_name(const struct kube_credentials *credentials)
{
    return credentials->name;
}

static char *copy(const char *text)
{
    return text ? mem_strdup(text) : NULL;
}

static char *bearer(const char *token)
{
    char *text = NULL;
    if (token && asprintf(&text, "Bearer %s", token) < 0)
        abort();
    return text;
}

/* The kubeconfig's certificate wins over the plugin's. Lock held. */
static struct kube_identity identity_of(const struct kube_credentials *credentials)
{
    const struct kube_target *target = credentials->target;
    struct kube_identity identity = {
        .authorization = bearer(credentials->token),
        .version = credentials->version,
    };
    if (!target->cert_pem && !target->cert_file) {
        identity.cert_pem = copy(credentials->cert_pem);
        identity.key_pem = copy(credentials->key_pem);
        return identity;
    }
    identity.cert_pem = copy(target->cert_pem);
    identity.key_pem = copy(target->key_pem);
    identity.cert_file = target->cert_pem ? NULL : copy(target->cert_file);
    identity.key_file = target->key_pem ? NULL : copy(target->key_file);
    return identity;
}

void kube_credentials_get(struct kube_credentials *credentials, int64_t now_ms,
                          struct kube_identity *ret_identity)
{
    mutex_lock(&credentials->lock);
    bool is_new = is_reread_due(credentials, now_ms) && reread(credentials, now_ms);
    *ret_identity = identity_of(credentials);
    mutex_unlock(&credentials->lock);
    if (is_new)
        notify_change(credentials);
}

void kube_identity_fini(struct kube_identity *identity)
{
    free(identity->authorization);
    free(identity->cert_pem);
    free(identity->key_pem);
    free(identity->cert_file);
    free(identity->key_file);
    *identity = (struct kube_identity){0};
}

void kube_credentials_on_change(struct kube_credentials *credentials,
                                void (*changed)(void *context), void *context)
{
    mutex_lock(&credentials->lock);
    credentials->changed = changed;
    credentials->context = context;
    mutex_unlock(&credentials->lock);
}

void kube_credentials_refused(struct kube_credentials *credentials, uint64_t version,
                              int64_t now_ms)
{
    mutex_lock(&credentials->lock);
    bool is_current = version == credentials->version;
    if (is_current)
        credentials->refused_version = version;
    bool is_new = is_current && is_reread_due(credentials, now_ms) && reread(credentials, now_ms);
    mutex_unlock(&credentials->lock);
    if (is_new)
        notify_change(credentials);
    if (is_current && credentials->plugin)
        exec_plugin_ask(credentials->plugin);
}
