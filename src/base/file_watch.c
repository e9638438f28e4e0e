/* file_watch: see include/base/file_watch.h. */
#include "base/file_watch.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/mutex.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LOOK_EVERY_MS 2000
/* Until changed files are read again. */
#define STEADY_MS 200

struct file_watch {
    struct file_watch_settings settings;
    bool has_seen;
    struct file_contents seen; /* last reported; the thread's only */
    pthread_t thread;
    bool is_started;

    struct mutex lock; /* guards the rest */
    pthread_cond_t wake;
    bool is_poked, stopping;
};

void file_contents_fini(struct file_contents *contents)
{
    for (size_t i = 0; i < FILE_WATCH_MAX; i++)
        buf_fini(&contents->texts[i]);
}

void file_contents_read(const struct file_watch_settings *settings,
                        struct file_contents *ret_contents)
{
    ret_contents->r = 0;
    for (size_t i = 0; i < FILE_WATCH_MAX; i++) {
        const char *path = settings->paths[i];
        struct buf *text = &ret_contents->texts[i];
        if (settings->is_secret[i])
            buf_init_secret(text, settings->max_bytes);
        else
            buf_init(text, settings->max_bytes);
        if (ret_contents->r == 0 && path && *path)
            ret_contents->r = small_file_read(path, false, text, &ret_contents->err);
    }
}

static bool is_equal(const struct file_contents *a, const struct file_contents *b)
{
    if (a->r < 0 || b->r < 0)
        return a->r == b->r && strcmp(a->err.text, b->err.text) == 0;
    for (size_t i = 0; i < FILE_WATCH_MAX; i++) {
        const struct buf *left = &a->texts[i];
        const struct buf *right = &b->texts[i];
        if (left->len != right->len || memcmp(buf_text(left), buf_text(right), left->len) != 0)
            return false;
    }
    return true;
}

/* Until at_ms, a stop, or, for the next look, a poke. False: a stop. */
static bool wait_until(struct file_watch *watch, int64_t at_ms, bool *ret_is_poked)
{
    const struct timespec moment = clock_moment(at_ms);
    int r = 0;
    mutex_lock(&watch->lock);
    while (!watch->stopping && !(ret_is_poked && watch->is_poked) && r != ETIMEDOUT)
        r = pthread_cond_timedwait(&watch->wake, &watch->lock.native, &moment);
    const bool go_on = !watch->stopping;
    if (ret_is_poked) {
        *ret_is_poked = watch->is_poked;
        watch->is_poked = false;
    }
    mutex_unlock(&watch->lock);
    return go_on;
}

/* Takes over the contents. */
static void report(struct file_watch *watch, struct file_contents *contents)
{
    if (watch->has_seen)
        file_contents_fini(&watch->seen);
    watch->has_seen = true;
    watch->seen = *contents;
    watch->settings.changed(watch->settings.context, &watch->seen);
}

/* Unsteady contents wait for the next look. */
static void look(struct file_watch *watch)
{
    struct file_contents now;
    struct file_contents again;
    file_contents_read(&watch->settings, &now);
    if (watch->has_seen && is_equal(&watch->seen, &now)) {
        file_contents_fini(&now);
        return;
    }
    (void)wait_until(watch, clock_ms() + STEADY_MS, NULL);
    file_contents_read(&watch->settings, &again);
    if (is_equal(&now, &again))
        report(watch, &now);
    else
        file_contents_fini(&now);
    file_contents_fini(&again);
}

static void *run(void *arg)
{
    struct file_watch *watch = arg;
    bool is_poked = false;
    while (wait_until(watch, clock_ms() + LOOK_EVERY_MS, &is_poked)) {
        look(watch);
        if (is_poked && watch->settings.looked)
            watch->settings.looked(watch->settings.context);
    }
    return NULL;
}

struct file_watch *file_watch_new(const struct file_watch_settings *settings,
                                  struct file_contents *contents)
{
    struct file_watch *watch = MEM_NEW(struct file_watch);
    watch->settings = *settings;
    watch->has_seen = contents;
    if (contents)
        watch->seen = *contents;
    clock_condition_init(&watch->wake);
    mutex_init(&watch->lock);
    return watch;
}

int file_watch_start(struct file_watch *watch, struct err *err)
{
    if (pthread_create(&watch->thread, NULL, run, watch) != 0)
        return err_set(err, EAGAIN, "cannot start the thread that reads changed files");
    watch->is_started = true;
    return 0;
}

void file_watch_poke(struct file_watch *watch)
{
    mutex_lock(&watch->lock);
    watch->is_poked = true;
    (void)pthread_cond_signal(&watch->wake);
    mutex_unlock(&watch->lock);
}

void file_watch_free(struct file_watch *watch)
{
    if (!watch)
        return;
    mutex_lock(&watch->lock);
    watch->stopping = true;
    (void)pthread_cond_signal(&watch->wake);
    mutex_unlock(&watch->lock);
    if (watch->is_started)
        (void)pthread_join(watch->thread, NULL);
    if (watch->has_seen)
        file_contents_fini(&watch->seen);
    (void)pthread_cond_destroy(&watch->wake);
    mutex_fini(&watch->lock);
    free(watch);
}
