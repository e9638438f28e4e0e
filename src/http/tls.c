/* tls: the files and the thread that checks them; see include/http/tls.h. */
#include "http/tls.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "base/small_file.h"
#include "base/wait.h"
#include "tls_set.h"

#include <assert.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FILE_BYTES_MAX ((size_t)1024 * 1024)
#define LOOK_EVERY_S 2

/* Contents of the files, or the error. */
struct contents {
    struct buf texts[N_TLS_FILES];
    int r;
    struct err err;
};

struct tls {
    struct tls_files files;
    pthread_t thread;
    struct contents seen; /* last contents; the thread's only */
    struct counter n_taken;
    struct counter n_refused;

    struct mutex lock; /* guards the rest */
    pthread_cond_t wake;
    bool stopping;
    struct tls_set *set;
};

/* The library requests a certificate without a context, so a process has one. */
static struct tls *serving;

static void contents_fini(struct contents *contents)
{
    for (size_t i = 0; i < N_TLS_FILES; i++)
        buf_fini(&contents->texts[i]);
}

static void contents_read(const struct tls_files *files, struct contents *ret_contents)
{
    const char *const paths[N_TLS_FILES] = {files->certificate, files->private_key,
                                            files->client_ca, files->client_crl};
    ret_contents->r = 0;
    for (size_t i = 0; i < N_TLS_FILES; i++) {
        if (i == TLS_PRIVATE_KEY)
            buf_init_secret(&ret_contents->texts[i], FILE_BYTES_MAX);
        else
            buf_init(&ret_contents->texts[i], FILE_BYTES_MAX);
        if (ret_contents->r == 0 && *paths[i])
            ret_contents->r =
                small_file_read(paths[i], false, &ret_contents->texts[i], &ret_contents->err);
    }
}

static bool contents_equal(const struct contents *a, const struct contents *b)
{
    if (a->r < 0 || b->r < 0)
        return a->r == b->r && strcmp(a->err.text, b->err.text) == 0;
    for (size_t i = 0; i < N_TLS_FILES; i++) {
        const struct buf *left = &a->texts[i];
        const struct buf *right = &b->texts[i];
        if (left->len != right->len || memcmp(buf_text(left), buf_text(right), left->len) != 0)
            return false;
    }
    return true;
}

static int set_of(const struct tls_files *files, const struct contents *contents,
                  struct tls_set **ret_set, struct err *err)
{
    if (contents->r < 0) {
        *err = contents->err;
        return contents->r;
    }
    return tls_set_new(files, contents->texts, ret_set, err);
}

static int read_set(const struct tls_files *files, struct tls_set **ret_set, struct err *err)
{
    struct contents contents;
    contents_read(files, &contents);
    int r = set_of(files, &contents, ret_set, err);
    contents_fini(&contents);
    return r;
}

int tls_check(const struct tls_files *files, struct err *err)
{
    struct tls_set *set = NULL;
    int r = read_set(files, &set, err);
    if (r == 0)
        r = tls_set_check_dates(set, files, err);
    if (r == 0)
        r = tls_set_check_crl_dates(set, files, err);
    tls_set_drop(set);
    return r;
}

int tls_look_at_server(const struct tls_files *files, const char *host, struct tls_facts *ret_facts,
                       struct err *err)
{
    struct tls_set *set = NULL;
    int r = read_set(files, &set, err);
    if (r == 0)
        tls_set_server_facts(set, host, ret_facts);
    tls_set_drop(set);
    return r;
}

int tls_look_at_client(const struct tls_files *files, const struct buf *pem, struct arena *arena,
                       struct tls_facts *ret_facts, struct err *err)
{
    struct tls_set *set = NULL;
    int r = read_set(files, &set, err);
    if (r == 0)
        r = tls_set_client_facts(set, pem, arena, ret_facts, err);
    tls_set_drop(set);
    return r;
}

static void warn_of_dates(const struct tls *tls, const struct tls_set *set)
{
    struct err err;
    if (tls_set_check_dates(set, &tls->files, &err) < 0)
        LOG(LOG_WARN, "tls", LOG_MSG("clients will reject this server's certificate"),
            LOG_STR("err", err.text));
    if (tls_set_check_crl_dates(set, &tls->files, &err) < 0)
        LOG(LOG_WARN, "tls", LOG_MSG("client certificates revoked since then are still accepted"),
            LOG_STR("err", err.text));
}

static void take(struct tls *tls, struct tls_set *set)
{
    warn_of_dates(tls, set);
    mutex_lock(&tls->lock);
    struct tls_set *old = tls->set;
    tls->set = set;
    mutex_unlock(&tls->lock);
    tls_set_drop(old);
}

/* Files that are being exchanged, by one link, may be read half old and half new. Then a second
 * reading differs. */
static void read_steadily(const struct tls_files *files, struct contents *ret_contents)
{
    struct contents again;
    contents_read(files, ret_contents);
    contents_read(files, &again);
    if (contents_equal(ret_contents, &again)) {
        contents_fini(&again);
    } else {
        contents_fini(ret_contents);
        *ret_contents = again;
    }
}

static void look(struct tls *tls)
{
    struct contents now;
    struct tls_set *set = NULL;
    struct err err;
    read_steadily(&tls->files, &now);
    if (contents_equal(&tls->seen, &now)) {
        contents_fini(&now);
        return;
    }
    contents_fini(&tls->seen);
    tls->seen = now;
    if (set_of(&tls->files, &now, &set, &err) < 0) {
        counter_add(&tls->n_refused, 1);
        LOG(LOG_WARN, "tls", LOG_MSG("the certificate files are unusable: keeping the old ones"),
            LOG_STR("err", err.text));
        return;
    }
    take(tls, set);
    counter_add(&tls->n_taken, 1);
    LOG(LOG_INFO, "tls", LOG_MSG("the certificate files were reloaded"),
        LOG_NUM("not_after", tls_set_not_after(set)));
}

/* Returns false at the stop. */
static bool wait_for_next_look(struct tls *tls)
{
    struct timespec deadline;
    (void)clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += LOOK_EVERY_S;
    mutex_lock(&tls->lock);
    int r = 0;
    while (!tls->stopping && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&tls->wake, &tls->lock.native, &deadline);
    bool go_on = !tls->stopping;
    mutex_unlock(&tls->lock);
    return go_on;
}

static void *run(void *arg)
{
    struct tls *tls = arg;
    while (wait_for_next_look(tls))
        look(tls);
    return NULL;
}

static void tls_free(struct tls *tls)
{
    serving = NULL;
    contents_fini(&tls->seen);
    tls_set_drop(tls->set);
    (void)pthread_cond_destroy(&tls->wake);
    mutex_fini(&tls->lock);
    free(tls);
}

static void init_lock(struct tls *tls)
{
    wait_condition_init(&tls->wake);
    mutex_init(&tls->lock);
}

int tls_open(const struct tls_files *files, struct tls **ret_tls, struct err *err)
{
    assert(!serving);
    struct tls *tls = MEM_NEW(struct tls);
    tls->files = *files;
    init_lock(tls);
    contents_read(files, &tls->seen);
    int r = set_of(files, &tls->seen, &tls->set, err);
    if (r == 0)
        warn_of_dates(tls, tls->set);
    if (r == 0 && pthread_create(&tls->thread, NULL, run, tls) != 0)
        r = err_set(err, EAGAIN, "cannot start the thread that reloads the certificate files");
    if (r < 0) {
        tls_free(tls);
        return r;
    }
    *ret_tls = serving = tls;
    return 0;
}

void tls_close(struct tls *tls)
{
    if (!tls)
        return;
    mutex_lock(&tls->lock);
    tls->stopping = true;
    (void)pthread_cond_signal(&tls->wake);
    mutex_unlock(&tls->lock);
    (void)pthread_join(tls->thread, NULL);
    tls_free(tls);
}

static struct tls_set *hold_set(struct tls *tls)
{
    mutex_lock(&tls->lock);
    struct tls_set *set = tls_set_hold(tls->set);
    mutex_unlock(&tls->lock);
    return set;
}

struct tls_set *tls_serving(void)
{
    return hold_set(serving);
}

const struct exchange_peer *tls_peer(void *session, struct arena *arena, const char **ret_fault)
{
    struct tls_set *set = tls_serving();
    const struct exchange_peer *peer = tls_set_peer(set, session, arena, ret_fault);
    tls_set_drop(set);
    return peer;
}

void tls_metrics(struct tls *tls, struct buf *out)
{
    struct tls_set *set = hold_set(tls);
    metrics_gauge(out, "gpu_extender_tls_certificate_expiration_timestamp_seconds",
                  "When the server certificate expires, in seconds since 1970.",
                  (double)tls_set_not_after(set));
    if (tls_set_crl_next_update(set) >= 0)
        metrics_gauge(out, "gpu_extender_tls_crl_next_update_timestamp_seconds",
                      "When the first list of revoked client certificates is due for renewal, in "
                      "seconds since 1970.",
                      (double)tls_set_crl_next_update(set));
    tls_set_drop(set);

    const char *metric = "gpu_extender_tls_reloads_total";
    metrics_head(out, metric, "counter",
                 "Changes of the certificate files, by result: taken, or refused as unusable.");
    const struct metric_label taken[] = {{"result", "taken"}, {NULL, NULL}};
    metrics_sample(out, metric, taken, (double)counter_value(&tls->n_taken));
    const struct metric_label refused[] = {{"result", "refused"}, {NULL, NULL}};
    metrics_sample(out, metric, refused, (double)counter_value(&tls->n_refused));
}
