/*
 * args: decodes ExtenderArgs (PROTOCOL 1.3), the request of filter and prioritize. Private to
 * extender.
 */
#ifndef EXTENDER_ARGS_H
#define EXTENDER_ARGS_H

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "base/words.h"
#include "decide/fit.h"
#include "extender/extender.h"
#include "http/exchange.h"
#include "types/facts.h"
#include "types/policy.h"

#include <jansson.h>

struct args {
    json_t *root;              /* owns all JSON below; released by args_fini() */
    struct pod_facts pod;      /* in the exchange's arena; refusal set if the pod is invalid */
    const char *pod_version;   /* metadata.resourceVersion; "" if absent */
    struct hashed_text *names; /* offered nodes, in the order received */
    size_t n_names;
    bool are_plain;   /* the names; false: they may need escapes */
    bool is_deferred; /* the pod's own preferences let kube-scheduler choose among fitting nodes */
    bool has_nodes;   /* nodeCacheCapable is false: whole Nodes come and go */
    const json_t *nodes; /* Nodes.items of the same nodes; NULL: none */
};

/* A request, decoded within its budget: that of an object for its Pod, and the list of names apart.
 * A Pod that the ledger has in the same version (UID and resourceVersion) is only scanned. */
struct args_body {
    json_t *root; /* of a Pod that is known, or over the budget, only what names it; the caller's */
    bool is_known;          /* by the ledger */
    struct pod_facts known; /* in the arena */
    const char *pod_fault;  /* over the budget: why, in the arena; NULL: it is not */
    /* NodeNames, in the arena and the request's body; NULL: they are in root, if at all. */
    struct hashed_text *names;
    size_t n_names;
    bool are_plain;
};
/* only: the members to read beside the Pod, as in json_stream.h; NULL: all. -EINVAL: no JSON. */
int args_read_body(const struct extender *extender, struct exchange *exchange,
                   const struct policy *policy, const char *const *only, struct args_body *ret_body,
                   struct err *err);
/* Decodes the member Pod. -EINVAL: it is missing. The namespace is known even if the pod is
 * invalid: it decides whether the pod is enforced. A pod over the budget is invalid. */
int args_read_pod(const struct args_body *body, struct arena *arena, const struct policy *policy,
                  struct pod_facts *ret_pod, struct err *err);
/* fit_question_of() for filter, prioritize and preempt. */
struct fit_question args_question(const struct cluster *cluster, const struct pod_facts *pod,
                                  struct arena *arena);
/* -EINVAL: no JSON, no Pod, neither Nodes nor NodeNames, or a member of the wrong type. */
int args_init(struct args *ret_args, const struct extender *extender, struct exchange *exchange,
              const struct policy *policy, struct err *err);
void args_fini(struct args *args);
/* buf_add_quoted() of the name, and room for as many bytes more, which the caller fills in. NULL:
 * they do not fit. Inline, for thousands of names. */
static inline char *args_add_name(const struct args *args, size_t name, size_t n_more,
                                  struct buf *out)
{
    const struct hashed_text text = args->names[name];
    char *at = args->are_plain ? buf_extend(out, text.len + 2 + n_more) : NULL;
    if (!at) {
        buf_add_quoted_len(out, text.text, text.len);
        return buf_extend(out, n_more);
    }
    *at = '"';
    words_copy(at + 1, text.text, text.len);
    at[text.len + 1] = '"';
    return at + text.len + 2;
}

#endif
