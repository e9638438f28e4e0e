/*
 * trial: one workload of a dry run on its way: what is asked, and what was found. Private to api.
 */
#ifndef API_TRIAL_H
#define API_TRIAL_H

#include "core/fit.h"
#include "dry_run.h"

/* A node, and what the workload's pods find there before anything is placed. */
struct candidate {
    const struct node *node;
    enum reason verdict;
    int score; /* where it fits */
};

struct trial {
    struct dry_run *dry_run;
    const struct workload *workload;
    struct fit_question question;
    /* With the tolerations that the admission plugin ExtendedResourceToleration would add. */
    struct fit_question tolerant;
    struct candidate *candidates; /* all nodes of the fork, by name */
    size_t n_nodes;
    int64_t n_replicas;
    int64_t n_placed;
    int64_t n_more;            /* that would fit beyond */
    const char *no_more;       /* why a replica was not placed; "" if all were */
    bool refused_by_admission; /* the API server would not take the pods */
};

/* dry_run_place.c: takes the room on the fork, and says where each replica goes. Fills in the
 * counts. */
json_t *trial_place(struct trial *trial, json_t *notes);

/* dry_run_words.c: what is said of it. */
json_t *trial_nodes(const struct trial *trial);
json_t *trial_notes(struct trial *trial);
const char *trial_summary(const struct trial *trial);
/* Why the next replica fits nowhere, or, of a DaemonSet, why some nodes have no room. */
const char *trial_why_not(const struct trial *trial);
/* The reason on one node, for people. */
const char *trial_message(const struct trial *trial, const struct node *node, enum reason reason);

#endif
