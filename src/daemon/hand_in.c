/* hand_in: see hand_in.h. */
#include "hand_in.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/wait.h"
#include "inventory/live.h"

static int64_t run(void *context, int64_t now_ms)
{
    struct hand_in *hand_in = context;
    (void)now_ms;
    mutex_lock(&hand_in->lock);
    const struct policy *policy = hand_in->policy;
    const bool lists_again = hand_in->lists_again;
    mutex_unlock(&hand_in->lock);
    if (!policy)
        return CLOCK_NEVER;
    const int64_t began_ms = clock_ms();
    inventory_take_policy(hand_in->inventory, policy);
    LOG(LOG_INFO, "inventory", LOG_MSG("the ledger was judged anew"),
        LOG_NUM("ms", clock_ms() - began_ms));
    for (size_t i = 0; lists_again && i < hand_in->n_watches; i++)
        kube_watch_list_again(hand_in->watches[i]);
    mutex_lock(&hand_in->lock);
    hand_in->policy = NULL;
    (void)pthread_cond_signal(&hand_in->taken);
    mutex_unlock(&hand_in->lock);
    if (lists_again)
        kube_loop_wake(hand_in->loop); /* the watches are tasks of this loop */
    return CLOCK_NEVER;
}

void hand_in_init(struct hand_in *ret_hand_in, struct inventory *inventory, struct kube_loop *loop,
                  struct kube_watch *const *watches, size_t n_watches)
{
    *ret_hand_in = (struct hand_in){
        .inventory = inventory, .loop = loop, .watches = watches, .n_watches = n_watches};
    mutex_init(&ret_hand_in->lock);
    wait_condition_init(&ret_hand_in->taken);
    kube_loop_add_task(loop, run, ret_hand_in);
}

void hand_in_fini(struct hand_in *hand_in)
{
    (void)pthread_cond_destroy(&hand_in->taken);
    mutex_fini(&hand_in->lock);
}

void hand_in_policy(struct hand_in *hand_in, const struct policy *policy, bool lists_again)
{
    mutex_lock(&hand_in->lock);
    hand_in->policy = policy;
    hand_in->lists_again = lists_again;
    mutex_unlock(&hand_in->lock);
    kube_loop_wake(hand_in->loop);
    mutex_lock(&hand_in->lock);
    while (hand_in->policy)
        (void)pthread_cond_wait(&hand_in->taken, &hand_in->lock.native);
    mutex_unlock(&hand_in->lock);
    inventory_free_replaced(hand_in->inventory);
}
