/* reload: see include/daemon/reload.h. */
#include "daemon/reload.h"
#include "base/clock.h"
#include "base/file_watch.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "base/mutex.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_MS 1000
/* SipHash-2-4, as published. */
#define DIGEST_ROUNDS 2
#define DIGEST_LAST_ROUNDS 4
#define DIGEST_SIZE 33

struct reload {
    struct reload_parts parts;
    struct file_watch *watch;
    const struct settings *in_force; /* the thread's only; its policy is held */
    struct counter n_taken, n_refused;

    struct mutex lock; /* guards the rest */
    int64_t taken_s;
    char digest[DIGEST_SIZE];
    char *values;        /* JSON object */
    char *needs_restart; /* JSON array */
    bool has_restart;
    struct err fault; /* of the file; "": it is fine */
};

/* ---- the report ---- */

/* Equal values give equal digests, in every process. */
static void digest_of(const struct settings *settings, char digest[DIGEST_SIZE])
{
    struct buf text;
    buf_init(&text, BUF_UNBOUNDED); /* settings are bounded */
    settings_print(settings, &text);
    struct siphash hash = siphash_begin((struct siphash_key){0, 0}, true);
    siphash_add(&hash, buf_text(&text), text.len, DIGEST_ROUNDS);
    const struct siphash128 result = siphash_end128(&hash, DIGEST_ROUNDS, DIGEST_LAST_ROUNDS);
    (void)snprintf(digest, DIGEST_SIZE, "%016" PRIx64 "%016" PRIx64, result.low, result.high);
    buf_fini(&text);
}

static void report_values(struct reload *reload, const struct settings *settings)
{
    struct buf values;
    char digest[DIGEST_SIZE];
    buf_init(&values, BUF_UNBOUNDED); /* settings are bounded */
    settings_json(settings, &values);
    digest_of(settings, digest);
    mutex_lock(&reload->lock);
    free(reload->values);
    reload->values = buf_take(&values);
    memcpy(reload->digest, digest, sizeof digest);
    reload->taken_s = clock_wall_ms() / SECOND_MS;
    mutex_unlock(&reload->lock);
}

static void report_fault(struct reload *reload, const struct err *fault)
{
    mutex_lock(&reload->lock);
    reload->fault = *fault;
    mutex_unlock(&reload->lock);
}

static void report_restart(struct reload *reload, const struct settings_difference *differences,
                           size_t n)
{
    struct buf text;
    const char *separator = "";
    buf_init(&text, BUF_UNBOUNDED); /* settings are bounded */
    buf_add_text(&text, "[");
    for (size_t i = 0; i < n; i++) {
        if (!differences[i].needs_restart)
            continue;
        buf_printf(&text, "%s{\"key\":", separator);
        buf_add_quoted(&text, differences[i].key);
        buf_add_text(&text, ",\"inForce\":");
        buf_add_quoted(&text, differences[i].before);
        buf_add_text(&text, ",\"inFile\":");
        buf_add_quoted(&text, differences[i].after);
        buf_add_text(&text, "}");
        separator = ",";
    }
    buf_add_text(&text, "]");
    mutex_lock(&reload->lock);
    free(reload->needs_restart);
    reload->needs_restart = buf_take(&text);
    reload->has_restart = separator[0] != '\0';
    mutex_unlock(&reload->lock);
}

static void add_member(struct buf *out, const char *name, const char *value)
{
    buf_printf(out, ",\"%s\":", name);
    if (value)
        buf_add_quoted(out, value);
    else
        buf_add_text(out, "null");
}

char *reload_report(struct reload *reload, struct arena *arena)
{
    char time[TEXT_TIME_SIZE];
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* settings are bounded */
    mutex_lock(&reload->lock);
    buf_add_text(&out, "{\"digest\":");
    buf_add_quoted(&out, reload->digest);
    add_member(&out, "file", reload->parts.options->config_file);
    add_member(&out, "inForceSince", text_time(reload->taken_s, time));
    add_member(&out, "fault", reload->fault.text[0] ? reload->fault.text : NULL);
    buf_printf(&out, ",\"needsRestart\":%s,\"values\":%s}", reload->needs_restart, reload->values);
    mutex_unlock(&reload->lock);
    char *copy = arena_strndup(arena, buf_text(&out), out.len);
    buf_fini(&out);
    return copy;
}

/* ---- taking a policy ---- */

static void log_warning(const char *text)
{
    LOG(LOG_WARN, "reload", LOG_MSG(text));
}

static void log_differences(const struct settings_difference *differences, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct settings_difference *difference = &differences[i];
        LOG(difference->needs_restart ? LOG_WARN : LOG_INFO, "reload",
            LOG_MSG(difference->needs_restart ? "restart needed" : "policy changed"),
            LOG_STR("key", difference->key), LOG_STR("before", difference->before),
            LOG_STR("after", difference->after));
    }
}

static int put_in_force(struct reload *reload, const struct settings *settings, bool lists_again,
                        struct err *err)
{
    const struct reload_parts *parts = &reload->parts;
    if (parts->live) {
        live_mode_take_policy(parts->live, &settings->policy, lists_again);
        return 0;
    }
    return inventory_load_file_under(parts->inventory, &settings->policy,
                                     parts->options->cluster_file, err);
}

static void succeed(struct reload *reload, const struct settings *settings)
{
    policy_drop(&reload->in_force->policy);
    reload->in_force = settings;
    (void)policy_hold(&settings->policy);
    counter_add(&reload->n_taken, 1);
    report_values(reload, settings);
    LOG(LOG_INFO, "reload", LOG_MSG("the policy file was reloaded"),
        LOG_STR("digest", reload->digest));
    inventory_warn_of_quotas(reload->parts.inventory, log_warning);
}

static bool lists_again(const struct settings_difference *differences, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (differences[i].needs_lists)
            return true;
    }
    return false;
}

/* merged: the wanted settings but for what needs a restart. */
static int take(struct reload *reload, const struct settings *wanted, struct settings *merged,
                struct arena *arena, struct err *err)
{
    struct settings_difference *differences = NULL;
    struct settings_difference *changes = NULL;
    int r = settings_merge(reload->in_force, wanted, merged, err);
    if (r < 0)
        return r;
    const size_t n = settings_differences(reload->in_force, wanted, arena, &differences);
    const size_t n_changes = settings_differences(reload->in_force, merged, arena, &changes);
    if (n_changes > 0)
        r = put_in_force(reload, merged, lists_again(changes, n_changes), err);
    if (r < 0)
        return r;
    /* Before logging: a reader of the log may ask at once. */
    report_fault(reload, &(struct err){""});
    report_restart(reload, differences, n);
    log_differences(differences, n);
    if (n_changes > 0)
        succeed(reload, merged);
    const char *warning = NULL;
    for (size_t i = 0; n > 0 && (warning = settings_warning(wanted, i)); i++)
        log_warning(warning);
    return 0;
}

static int read_and_take(struct reload *reload, const struct file_contents *contents,
                         struct err *err)
{
    if (contents->r < 0) {
        *err = contents->err;
        return contents->r;
    }
    struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
    struct settings *wanted = settings_new();
    struct settings *merged = settings_new();
    const struct buf *text = &contents->texts[0];
    int r = settings_read_text(wanted, reload->parts.options->config_file, buf_text(text),
                               text->len, err);
    if (r == 0)
        r = take(reload, wanted, merged, arena, err);
    policy_drop(&wanted->policy);
    policy_drop(&merged->policy);
    return r;
}

static void on_change(void *context, const struct file_contents *contents)
{
    struct reload *reload = context;
    struct err err = {""};
    if (!reload->parts.options->config_file)
        return;
    if (read_and_take(reload, contents, &err) < 0) {
        counter_add(&reload->n_refused, 1);
        report_fault(reload, &err);
        LOG(LOG_ERROR, "reload", LOG_MSG("the policy file is unusable: keeping the old policy"),
            LOG_STR("err", err.text));
    }
}

/* ---- SIGHUP ---- */

static void read_cluster(struct reload *reload)
{
    struct err err;
    if (inventory_load_file(reload->parts.inventory, reload->parts.options->cluster_file, &err) < 0)
        LOG(LOG_ERROR, "main", LOG_MSG("reload failed: keeping the old cluster"),
            LOG_STR("err", err.text));
    else
        LOG(LOG_INFO, "main", LOG_MSG("reloaded"));
}

static void on_looked(void *context)
{
    struct reload *reload = context;
    const struct options *options = reload->parts.options;
    if (options->cluster_file)
        read_cluster(reload);
    else if (options->config_file)
        LOG(LOG_INFO, "reload", LOG_MSG("the policy file was read"));
    else
        LOG(LOG_INFO, "main",
            LOG_MSG("SIGHUP ignored: there is no policy file and no cluster file to reload"));
}

/* ---- its life ---- */

/* A pipe can be read only once, and was. */
static bool is_watched(const char *path)
{
    struct stat facts;
    return path && (stat(path, &facts) < 0 || S_ISREG(facts.st_mode));
}

struct reload *reload_new(const struct reload_parts *parts)
{
    struct reload *reload = MEM_NEW(struct reload);
    const char *path = parts->options->config_file;
    const struct file_watch_settings settings = {
        .paths = {is_watched(path) ? path : NULL},
        .max_bytes = SETTINGS_FILE_BYTES_MAX,
        .changed = on_change,
        .looked = on_looked,
        .context = reload,
    };
    reload->parts = *parts;
    reload->in_force = parts->settings;
    (void)policy_hold(&parts->settings->policy);
    mutex_init(&reload->lock);
    reload->needs_restart = mem_strdup("[]");
    report_values(reload, parts->settings);
    reload->watch = file_watch_new(&settings, NULL);
    return reload;
}

int reload_start(struct reload *reload, struct err *err)
{
    return file_watch_start(reload->watch, err);
}

void reload_now(struct reload *reload)
{
    file_watch_poke(reload->watch);
}

void reload_stop(struct reload *reload)
{
    if (!reload)
        return;
    file_watch_free(reload->watch);
    reload->watch = NULL;
}

void reload_free(struct reload *reload)
{
    if (!reload)
        return;
    reload_stop(reload);
    policy_drop(&reload->in_force->policy);
    free(reload->values);
    free(reload->needs_restart);
    mutex_fini(&reload->lock);
    free(reload);
}

void reload_metrics(struct reload *reload, struct buf *out)
{
    mutex_lock(&reload->lock);
    const struct metric_label digest[] = {{"digest", reload->digest}, {0}};
    const char *info = "gpu_extender_policy_info";
    metrics_head(out, info, "gauge", "Always 1. digest: of the values of the policy in force.");
    metrics_sample(out, info, digest, 1);
    metrics_gauge(out, "gpu_extender_policy_in_force_timestamp_seconds",
                  "Since when the policy is in force, in seconds since 1970.",
                  (double)reload->taken_s);
    metrics_gauge(out, "gpu_extender_policy_file_unusable",
                  "1 while the policy file cannot be used, so that the next start would fail.",
                  reload->fault.text[0] != '\0');
    metrics_gauge(out, "gpu_extender_policy_needs_restart",
                  "1 while the policy file has values that only a restart puts in force.",
                  reload->has_restart);
    mutex_unlock(&reload->lock);
    const char *reloads = "gpu_extender_policy_reloads_total";
    metrics_head(out, reloads, "counter",
                 "Changes of the policy file, by result: taken, or refused as unusable.");
    const struct metric_label taken[] = {{"result", "taken"}, {0}};
    metrics_sample(out, reloads, taken, (double)counter_value(&reload->n_taken));
    const struct metric_label refused[] = {{"result", "refused"}, {0}};
    metrics_sample(out, reloads, refused, (double)counter_value(&reload->n_refused));
}
