/*
 * trial: one workload of a dry run on its way: what is asked, and what was found. Private to api.
 */
#ifndef API_TRIAL_H
#define API_TRIAL_H

#include "core/fragmentation.h"
#include "dry_run.h"
#include "verdict.h"

struct trial {
    struct dry_run *dry_run;
    const struct workload *workload;
    struct asking asking;
    struct candidates candidates; /* of the fork, before anything is placed */
    int64_t n_replicas;
    int64_t n_placed;
    int64_t n_more;              /* that would fit beyond */
    size_t n_by_claim;           /* nodes that fit where something would come by a claim */
    const char *no_more;         /* why a replica was not placed; "" if all were */
    json_t *near_misses;         /* what would let another fit; NULL: all were placed */
    const char *refused_because; /* why the API server would not take the pods; NULL: it would */
};

/* dry_run_place.c: takes the room on the fork, and says where each replica goes. Fills in the
 * counts. */
json_t *trial_place(struct trial *trial, json_t *notes);

/* dry_run_explain.c: why the nodes rank as they do, before anything is placed; and what placing
 * changed: the member explain of the answer, which takes over what was told before. */
struct trial_explanation {
    json_t *ranking;
    struct fragmentations fragmentations;
};
struct trial_explanation trial_explain_before(const struct trial *trial);
json_t *trial_explain_after(const struct trial *trial, const struct trial_explanation *before);

/* dry_run_words.c: what is said of it. */
json_t *trial_notes(struct trial *trial);
const char *trial_summary(const struct trial *trial);
/* Why the next replica fits nowhere, or, of a DaemonSet, why some nodes have no room. */
const char *trial_why_not(const struct trial *trial);

#endif
