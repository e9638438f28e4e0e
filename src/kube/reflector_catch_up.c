/* reflector_catch_up: data as of now. See include/kube/reflector.h. */
#include "base/clock.h"
#include "reflector_priv.h"
#include "resource_version.h"

/* How long events are waited for: where there are any, they come at once. */
#define CATCH_UP_MS 300

static bool is_under_way(const struct reflector *reflector)
{
    return reflector->catch_up.done != reflector->catch_up.number;
}

void reflector_catch_up(struct reflector *reflector, int64_t now_ms, uint64_t number,
                        const char *version)
{
    struct catching_up *catch_up = &reflector->catch_up;
    catch_up->number = number;
    buf_clear(&catch_up->version);
    if (version)
        (void)buf_add_text(&catch_up->version, version);
    catch_up->until_ms = catch_up->version.len > 0 ? now_ms + CATCH_UP_MS : now_ms;
    reflector_catch_up_look(reflector);
}

/* A list that was begun before the catch-up may not show it; one that is to begin will. Where the
 * version is known, the watch after the list may do the rest. */
static bool is_helped_by_list(const struct reflector *reflector)
{
    const struct listing *listing = &reflector->listing;
    return reflector->step == STEP_LIST &&
           (!listing->is_counted || listing->catches_up == reflector->catch_up.number ||
            reflector->catch_up.version.len > 0);
}

int64_t reflector_catch_up_due_ms(const struct reflector *reflector)
{
    return is_under_way(reflector) && !is_helped_by_list(reflector) ? reflector->catch_up.until_ms
                                                                    : CLOCK_NEVER;
}

void reflector_catch_up_look(struct reflector *reflector)
{
    struct catching_up *catch_up = &reflector->catch_up;
    const bool follows = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    if (is_under_way(reflector) && follows && catch_up->version.len > 0 &&
        resource_version_is_at_least(buf_text(&reflector->version), buf_text(&catch_up->version)))
        catch_up->done = catch_up->number;
}

void reflector_catch_up_listed(struct reflector *reflector, int64_t now_ms)
{
    struct catching_up *catch_up = &reflector->catch_up;
    if (is_under_way(reflector) && reflector->listing.catches_up == catch_up->number)
        catch_up->done = catch_up->number;
    reflector_catch_up_look(reflector);
    catch_up->until_ms = now_ms + CATCH_UP_MS;
}

uint64_t reflector_caught_up(const struct reflector *reflector)
{
    return reflector->catch_up.done;
}
