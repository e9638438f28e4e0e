/*
 * members: the pods of groups, which pod_groups and gangs count. Private to ledger.
 */
#ifndef LEDGER_MEMBERS_H
#define LEDGER_MEMBERS_H

#include "ledger.h"
#include "ledger/gangs.h"

struct member_group {
    bool is_gang;
    size_t n_members, n_bound, n_placed, n_waiting, n_planned; /* as in struct gang */
    int64_t claims_from_ms;       /* the first claim since a member was bound; 0: none */
    struct group_member *members; /* all of them */
    struct group_member *waiting; /* may be scheduled now; in the order in which they began to */
    enum gang_treatment treatment;
    UT_hash_handle hh;
    char key[]; /* "namespace/name" */
};

struct group_member {
    struct pod_entry *pod;
    struct member_group *group;
    bool is_bound, waits;
    struct group_member *prev, *next;         /* in waiting */
    struct group_member *all_prev, *all_next; /* in members */
};

/* NULL: it has none. */
struct member_group *pod_groups_members(const struct cluster *cluster, bool is_gang,
                                        const char *namespace_, const char *name);

#endif
