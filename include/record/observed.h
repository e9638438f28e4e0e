/*
 * observed: what mode: enforce would have done with the pods that mode: observe let pass.
 *
 * A pod has a row, by its UID, from its first judgement on. A pod without a fitting node counts as
 * refused at once: once for each reason. When the watch shows the pod's node, the row is settled:
 * the pod went where the last judgement allows, or elsewhere. Rows are bounded: the one that was
 * judged longest ago gives way, and its pod counts anew if it comes back. Sums stay until the
 * process ends. Namespaces beyond OBSERVED_NAMESPACES share one sum.
 *
 * Callers pass the time. All functions may be called from any thread; each takes observed.lock.
 */
#ifndef RECORD_OBSERVED_H
#define RECORD_OBSERVED_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/hash.h"
#include "types/reason.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OBSERVED_PODS ((size_t)2048)
#define OBSERVED_NAMESPACES ((size_t)1000)
#define OBSERVED_EXAMPLES ((size_t)50)
/* Bytes kept about the nodes of pods that are not settled. */
#define OBSERVED_DETAIL_BYTES ((size_t)16 * 1024 * 1024)

/* Values of enum reason, and more. A new one needs a row in observed.c. */
enum {
    OBSERVED_RETRY = N_REASONS, /* an Error, as the ledger may be behind kube-scheduler */
    OBSERVED_UNUSABLE,          /* an Error, as the data allow no decision */
    OBSERVED_NOT_BEST,          /* the pod went to a node that fits, and others are better */
    N_OBSERVED_REASONS
};

/* "not_best": for metrics and answers. */
const char *observed_reason_name(size_t reason);
/* For users, without a prefix. */
const char *observed_reason_text(size_t reason);

struct observed;

/* now_ms: since 1970. */
struct observed *observed_new(int64_t now_ms);
void observed_free(struct observed *observed);

struct observed_judgement {
    const char *namespace_, *name, *uid;
    const struct hashed_text *names; /* offered nodes */
    const enum reason *verdicts;     /* theirs */
    size_t n_names;
    size_t refusal; /* why none is left; REASON_FITS: some are left */
};
void observed_judge(struct observed *observed, const struct observed_judgement *judgement,
                    int64_t now_ms);
/* The pod's best nodes, all equally good, after its last judgement. At least one. */
void observed_rank(struct observed *observed, const char *uid, const char *const *best, size_t n);
/* The watch shows the pod on its node. NULL: the pod is gone. */
void observed_settle(struct observed *observed, const char *uid, const char *node);

/* Pods. */
struct observed_sums {
    int64_t judged;
    int64_t refused;   /* at least once */
    int64_t elsewhere; /* went to a node that the last judgement did not allow, or not prefer */
    int64_t as_judged; /* went to a node that the last judgement preferred */
    int64_t waiting;   /* not settled yet */
    int64_t unknown;   /* gone, or their rows gave way, before they were settled */
    int64_t refused_by[N_OBSERVED_REASONS], elsewhere_by[N_OBSERVED_REASONS];
};

struct observed_namespace {
    const char *name;
    struct observed_sums sums;
};

/* A pod that would have been rejected, or went elsewhere. */
struct observed_example {
    int64_t at_ms; /* of its last judgement */
    const char *namespace_, *name, *uid;
    bool went_elsewhere; /* false: it would have been rejected */
    size_t reason;
    const char *node; /* where it went; "": not yet, or unknown */
    const char *best; /* one of the best nodes; "": none was ranked */
};

struct observed_report {
    int64_t since_ms; /* of observed_new() */
    struct observed_sums all;
    struct observed_namespace *namespaces; /* most differences first */
    size_t n_namespaces;
    struct observed_sums others;       /* of namespaces that are not listed */
    struct observed_example *examples; /* newest first */
    size_t n_examples;
};
/* namespace_: only its sums and examples, in all; NULL: of all. In the arena. */
struct observed_report observed_report(struct observed *observed, const char *namespace_,
                                       struct arena *arena);

/* Refusals and differences by reason: Prometheus text. */
void observed_metrics(struct observed *observed, struct buf *out);

#endif
