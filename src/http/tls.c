/* tls: the files and the thread that checks them; see include/http/tls.h. */
#include "http/tls.h"
#include "base/file_watch.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"
#include "tls_set.h"

#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>

#define FILE_BYTES_MAX ((size_t)1024 * 1024)

static_assert(N_TLS_FILES <= FILE_WATCH_MAX, "the watch reads all of them");

struct tls {
    struct tls_files files;
    struct file_watch *watch;
    struct counter n_taken;
    struct counter n_refused;

    struct mutex lock; /* guards the rest */
    struct tls_set *set;
    struct tls_set *front; /* authorities of front proxies; NULL: none is trusted */
};

/* The library requests a certificate without a context, so a process has one. */
static struct tls *serving;

static struct file_watch_settings watch_of(const struct tls_files *files)
{
    return (struct file_watch_settings){
        .paths = {files->certificate, files->private_key, files->client_ca, files->client_crl},
        .is_secret = {[TLS_PRIVATE_KEY] = true},
        .max_bytes = FILE_BYTES_MAX};
}

static int set_of(const struct tls_files *files, const struct file_contents *contents,
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
    const struct file_watch_settings watch = watch_of(files);
    struct file_contents contents;
    file_contents_read(&watch, &contents);
    int r = set_of(files, &contents, ret_set, err);
    file_contents_fini(&contents);
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

int tls_look_at_trust(const struct tls_files *files, const struct buf *authorities,
                      bool *ret_is_trusted, struct err *err)
{
    struct tls_set *set = NULL;
    int r = read_set(files, &set, err);
    if (r == 0)
        r = tls_set_trust(set, authorities, ret_is_trusted, err);
    tls_set_drop(set);
    return r;
}

int tls_check_pair(const struct buf *certificate, const struct buf *private_key, struct err *err)
{
    return tls_set_check_pair(certificate, private_key, err);
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

static void on_change(void *context, const struct file_contents *now)
{
    struct tls *tls = context;
    struct tls_set *set = NULL;
    struct err err;
    if (set_of(&tls->files, now, &set, &err) < 0) {
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

int tls_open(const struct tls_files *files, struct tls **ret_tls, struct err *err)
{
    assert(!serving);
    struct file_watch_settings watch = watch_of(files);
    struct file_contents contents;
    struct tls *tls = MEM_NEW(struct tls);
    tls->files = *files;
    mutex_init(&tls->lock);
    file_contents_read(&watch, &contents);
    int r = set_of(files, &contents, &tls->set, err);
    if (r == 0)
        warn_of_dates(tls, tls->set);
    watch.changed = on_change;
    watch.context = tls;
    tls->watch = file_watch_new(&watch, &contents);
    if (r == 0)
        r = file_watch_start(tls->watch, err);
    if (r < 0) {
        tls_close(tls);
        return r;
    }
    *ret_tls = serving = tls;
    return 0;
}

void tls_close(struct tls *tls)
{
    if (!tls)
        return;
    file_watch_free(tls->watch);
    serving = NULL;
    tls_set_drop(tls->set);
    tls_set_drop(tls->front);
    mutex_fini(&tls->lock);
    free(tls);
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

int tls_trust_front(struct tls *tls, const struct buf *authorities, struct err *err)
{
    struct tls_set *front = NULL;
    int r = authorities ? tls_set_new_front(authorities, &front, err) : 0;
    mutex_lock(&tls->lock);
    struct tls_set *old = tls->front;
    tls->front = front;
    mutex_unlock(&tls->lock);
    tls_set_drop(old);
    return r;
}

const struct exchange_peer *tls_front(void *session, struct arena *arena, const char **ret_fault)
{
    mutex_lock(&serving->lock);
    struct tls_set *front = serving->front ? tls_set_hold(serving->front) : NULL;
    mutex_unlock(&serving->lock);
    *ret_fault = "the front proxy's authorities are not known";
    const struct exchange_peer *peer =
        front ? tls_set_peer(front, session, arena, ret_fault) : NULL;
    tls_set_drop(front);
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
