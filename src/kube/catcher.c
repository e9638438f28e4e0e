/* catcher: see catcher.h. */
#include "catcher.h"

void catcher_init(struct catcher *catcher, const char *pods_path, struct kube_sender sender)
{
    *catcher = (struct catcher){.sender = sender, .pods_path = pods_path};
}

static void on_answer(void *context, const struct kube_answer *answer)
{
    struct catcher *catcher = context;
    catcher->asks = false;
    catch_up_answered(&catcher->catch_up, answer);
}

bool catcher_work(struct catcher *catcher, uint64_t number)
{
    if (catcher->asks)
        return false;
    const bool begins = catcher->number != number;
    if (begins) {
        catcher->number = number;
        catch_up_begin(&catcher->catch_up, catcher->pods_path);
    }
    const struct catch_up_action action = catch_up_next(&catcher->catch_up);
    if (action.want == CATCH_UP_ASK) {
        catcher->asks = true;
        catcher->sender.send(catcher->sender.sender, &action.request, on_answer, catcher);
    } else if (action.want == CATCH_UP_REACH) {
        catcher->reach(catcher->context, number, action.version);
    }
    return begins;
}

void catcher_reached(struct catcher *catcher, uint64_t number)
{
    atomic_store(&catcher->reached, number);
}

bool catcher_has_reached(const struct catcher *catcher, uint64_t number)
{
    return atomic_load(&catcher->reached) == number;
}
