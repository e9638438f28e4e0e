/* catch_up: see catch_up.h. */
#include "catch_up.h"

#include "formats/json_get.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QUESTION_MS 3000
#define COMPARABLE_MINOR 35

void catch_up_begin(struct catch_up *catch_up, const char *pods_path)
{
    *catch_up = (struct catch_up){.step = CATCH_UP_VERSION};
    (void)snprintf(catch_up->path, sizeof catch_up->path, "%s?limit=1", pods_path);
}

struct catch_up_action catch_up_next(struct catch_up *catch_up)
{
    struct catch_up_action action = {.want = CATCH_UP_ASK};
    action.request = (struct kube_request){.method = "GET", .timeout_ms = QUESTION_MS};
    switch (catch_up->step) {
    case CATCH_UP_VERSION:
        action.request.path = "/version";
        break;
    case CATCH_UP_PODS:
        action.request.path = catch_up->path;
        break;
    case CATCH_UP_KNOWN:
        action.want = CATCH_UP_REACH;
        action.version = catch_up->version[0] ? catch_up->version : NULL;
        catch_up->step = CATCH_UP_OVER;
        break;
    case CATCH_UP_OVER:
    default:
        action.want = CATCH_UP_NOTHING;
        break;
    }
    return action;
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

static void take_version(struct catch_up *catch_up, const json_t *root)
{
    const char *version = "";
    (void)json_get_string(json_member(root, "metadata"), "resourceVersion", &version, NULL);
    if (strlen(version) < sizeof catch_up->version)
        (void)snprintf(catch_up->version, sizeof catch_up->version, "%s", version);
}

void catch_up_answered(struct catch_up *catch_up, const struct kube_answer *answer)
{
    json_t *root = NULL;
    if (answer->outcome == KUBE_ANSWERED && answer->status == 200)
        (void)json_parse(answer->body, answer->body_len, 0, &root, NULL);
    if (catch_up->step == CATCH_UP_PODS)
        take_version(catch_up, root);
    catch_up->step =
        catch_up->step == CATCH_UP_VERSION && is_comparable(root) ? CATCH_UP_PODS : CATCH_UP_KNOWN;
    json_decref(root);
}
