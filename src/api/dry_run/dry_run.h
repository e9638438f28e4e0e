/*
 * dry_run: the dry run for other answers. Private to api.
 */
#ifndef API_DRY_RUN_DRY_RUN_H
#define API_DRY_RUN_DRY_RUN_H

#include "api/dry_run/manifest.h"
#include "api/dry_run/placement_run.h"

struct dry_run_question {
    struct manifest_text manifest;
    const char *name; /* of a list of objects, for messages */
    const char *only; /* all objects must be of this namespace, and no other is named; NULL: any */
    bool explain;
    bool as_table;      /* a mistake in the manifest is answered as text */
    bool hides_devices; /* warnings name no attributes, capacities or values of devices */
};

/* The answer of POST /v1/dry-run; NULL: it has answered the exchange. */
json_t *dry_run_answer(const struct api *api, struct exchange *exchange,
                       const struct dry_run_question *question);

/* The peers that the fork must have to judge these. */
enum peers_wanted dry_run_peers_wanted(const struct workload_list *list);
/* Whether judging them would take too long, after answering 413. */
bool dry_run_is_too_much(const struct workload_list *list, const struct cluster *fork,
                         struct exchange *exchange);
struct workloads_question {
    const struct api *api;
    const struct provenance *provenance;
    const struct policy *policy; /* of the list's texts; held */
    struct cluster *fork;
    const struct workload_list *list;
    const char *only; /* as in dry_run_question */
    bool explain;
    bool hides_devices;
    bool counts_only; /* searches no evictions and no remedies */
};
/* The members of DryRunResult but those of provenance. Places the replicas on the fork. */
json_t *dry_run_judge(const struct workloads_question *question, struct arena *arena);
/* What was skipped, not understood, or is probably a mistake, as text. */
void dry_run_write_warnings(const json_t *answer, struct arena *arena, struct buf *out);
/* Sentences about the changes of a what-if, and about what they do to others; "": none. */
struct job_changes {
    const char *changes, *others;
};
/* The verdicts of such an answer as text, the failing ones first (job_table.c). */
void dry_run_write_jobs(const json_t *answer, const struct job_changes *of, bool wide,
                        struct arena *arena, struct buf *out);

#endif
