/* catcher: see catcher.h. */
#include "catcher.h"

#include "formats/json_parse.h"
#include "formats/json_values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUEST_MS 3000
#define COMPARABLE_MINOR 35

void catcher_init(struct catcher *catcher, const struct catch_up_watch *pods,
                  struct kube_sender sender)
{
    *catcher = (struct catcher){.sender = sender, .pods = *pods};
    (void)snprintf(catcher->path, sizeof catcher->path, "%s?limit=1", pods->path);
}

/* {"major": "1", "minor": "36"}; some providers write "36+". */
static bool is_comparable(const json_t *root)
{
    const char *major = "";
    const char *minor = "";
    (void)json_get_string(root, "major", &major, NULL);
    (void)json_get_string(root, "minor", &minor, NULL);
    const long generation = strtol(major, NULL, 10);
    return generation > 1 || (generation == 1 && strtol(minor, NULL, 10) >= COMPARABLE_MINOR);
}

static void take_version(struct catcher *catcher, const json_t *root)
{
    const char *version = "";
    (void)json_get_string(json_member(root, "metadata"), "resourceVersion", &version, NULL);
    if (strlen(version) < sizeof catcher->version)
        (void)snprintf(catcher->version, sizeof catcher->version, "%s", version);
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct catcher *catcher = context;
    json_t *root = NULL;
    if (answer->outcome == KUBE_ANSWERED && answer->status == 200)
        (void)json_parse(answer->body, answer->body_len, 0, &JSON_ANSWER, &root, NULL);
    if (catcher->step == CATCHER_ASKS_PODS)
        take_version(catcher, root);
    const bool asks_pods = catcher->step == CATCHER_ASKS_SERVER && is_comparable(root);
    catcher->step = asks_pods ? CATCHER_ASKS_PODS : CATCHER_BEGINS;
    catcher->asks = false;
    json_decref(root);
}

static void on_done(void *context, uint64_t number)
{
    struct catcher *catcher = context;
    atomic_store(&catcher->done, number);
    catcher->sender.wake(catcher->sender.sender);
}

static void ask(struct catcher *catcher, const char *path)
{
    const struct kube_request request = {.method = "GET", .path = path, .timeout_ms = REQUEST_MS};
    catcher->asks = true;
    catcher->sender.send(catcher->sender.sender, &request, on_answer, catcher);
}

static void begin(struct catcher *catcher)
{
    const struct catch_up catch_up = {
        .number = catcher->number,
        .version = catcher->version[0] ? catcher->version : NULL,
        .done = on_done,
        .context = catcher,
    };
    catcher->step = CATCHER_WAITS;
    catcher->pods.begin(catcher->pods.watch, &catch_up);
}

bool catcher_work(struct catcher *catcher, uint64_t number)
{
    if (catcher->asks)
        return false;
    const bool is_new = catcher->number != number;
    if (is_new) {
        catcher->number = number;
        catcher->version[0] = '\0';
        catcher->step = CATCHER_ASKS_SERVER;
    }
    if (catcher->step == CATCHER_ASKS_SERVER)
        ask(catcher, "/version");
    else if (catcher->step == CATCHER_ASKS_PODS)
        ask(catcher, catcher->path);
    else if (catcher->step == CATCHER_BEGINS)
        begin(catcher);
    return is_new;
}

bool catcher_is_done(const struct catcher *catcher, uint64_t number)
{
    return atomic_load(&catcher->done) == number;
}
