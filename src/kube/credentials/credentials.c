/* credentials: see include/kube/credentials.h. The caller's thread reads the token file again (it
 * is small and local); a plugin has its own thread (exec_plugin.c). */
#include "kube/credentials.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/mutex.h"
#include "exec_plugin.h"
#include "kube/config/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    struct exec_credential first;
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
