/*
 * verbs_harness: the extender's verbs over a bind_harness, without HTTP. Requests and answers use '
 * for ".
 */
#ifndef VERBS_HARNESS_H
#define VERBS_HARNESS_H

#include "bind_harness.h"
#include "extender/extender.h"
#include "fake_exchange.h"

struct verbs {
    struct bind_harness *harness;
    struct extender extender; /* has only the harness's policy, inventory and binds */
};

void verbs_init(struct verbs *verbs);
void verbs_fini(struct verbs *verbs);

/* Starts a call, from any thread. The answer may come later; end() takes it. */
struct exchange *begin(struct verbs *verbs, handle_exchange *handle, const char *question);
/* The call was answered with 200 and this text. */
void end(struct exchange *exchange, const char *expected);

/* metric: without "gpu_extender_", with labels. */
void check_counted(const struct verbs *verbs, const char *metric, unsigned times);

/* An answer of filter. */
#define ANSWER(names, failed)                                                                      \
    "{'Nodes':null,'NodeNames':[" names "],'FailedNodes':{},'FailedAndUnresolvableNodes':{" failed \
    "},'Error':''}"
#define REFUSED(node, why) "'" node "':'gpu-extender: " why "'"
#define NO_GPUS REFUSED("c", "the node has no GPUs of the requested resource")
#define TOO_FEW REFUSED("a", "the node has too few free GPUs now")
#define LAG "{'Error':'gpu-extender: the ledger is behind kube-scheduler: retry'}"
#define KEPT                                                                                       \
    "{'Error':'gpu-extender: the free GPUs are kept for a nominated pod that kube-scheduler does " \
    "not count: retry'}"

#endif
