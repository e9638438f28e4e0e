/*
 * gang_turns: which group of pods is planned next, for how long its plan holds, and how much plans
 * may keep. Private to extender.
 *
 * A state machine without I/O, clock or lock: what the ledger shows of the groups, events and the
 * time go in, the next step comes out. It knows no nodes and chooses none: gangs.c carries the
 * steps out, in the ledger. Nothing is stored: a new leader begins with an empty machine.
 *
 * A group without a plan keeps nothing. A plan ends after a time without progress, and in any case
 * after a longer one; then the group loses its turn for a time that doubles. So two groups that fit
 * only one at a time cannot keep each other waiting for ever.
 */
#ifndef EXTENDER_GANGS_GANG_TURNS_H
#define EXTENDER_GANGS_GANG_TURNS_H

#include "ledger/gangs.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Groups that are not running, of which the machine knows, and those whose plans end; namespaces
 * have equal shares. Members of others are treated as GANG_BEYOND. */
#define GANG_TURNS_MAX ((size_t)1024)
/* Namespaces and models whose kept GPUs are counted. */
#define GANG_ACCOUNTS_MAX ((size_t)1024)
/* Models in one plan. */
#define GANG_MODELS_MAX ((size_t)8)

struct gang_limits {
    int64_t forming_ms; /* an incomplete group is awaited for so long */
    int64_t idle_ms;    /* a plan without progress ends */
    int64_t plan_ms;    /* every plan ends */
    int64_t pause_ms;   /* before the next plan, after the first that ended so */
    int64_t pause_most_ms;
    int64_t gap_ms;       /* between two attempts to plan the same group */
    int64_t times_cost;   /* planning may take one part in so many of the time */
    int64_t wake_soon_ms; /* no plan is made while a wake must wait for longer */
    int64_t grace_ms;     /* after a plan expired, its namespace gets no plan beyond the share */
    int64_t share_milli;  /* of a model's GPUs that all plans may keep together */
    /* GPU-seconds that a namespace may keep without a binding: in an hour burst_s + hour_s of each
     * GPU of the model. */
    int64_t burst_s, hour_s;
    size_t waiting_members; /* of all groups without a plan; groups beyond get an Error */
};
/* The product's limits; those of the policy replace some. */
extern const struct gang_limits GANG_LIMITS;

/* A group as the ledger shows it. */
struct gang_sight {
    const char *key; /* "namespace/name" */
    const char *namespace_;
    struct gang gang;
    int64_t priority;  /* the highest of its members that wait */
    bool is_displaced; /* a place that its plan keeps has no room any more */
};

/* GPUs of a model that a plan keeps. */
struct gang_kept {
    uint64_t model;      /* any number that names it */
    int64_t gpus, total; /* of the plan; of the cluster */
};

/* Why a group has no plan. Same order as the names in gang_turns.c. */
enum gang_wait {
    GANG_WAIT_NONE, /* it has one, or has not been looked at */
    GANG_WAIT_FORMING,
    GANG_WAIT_TURN,  /* its turn comes */
    GANG_WAIT_PAUSE, /* its last plan ended without use */
    GANG_WAIT_ROOM,
    GANG_WAIT_NEVER,    /* not even in an empty cluster */
    GANG_WAIT_SHARE,    /* plans would keep too much of a model */
    GANG_WAIT_CHARGED,  /* its namespace has kept too much without use */
    GANG_WAIT_OBSERVED, /* a plan could be made, and groups are only observed */
    GANG_WAIT_BEYOND,   /* too many members wait */
    N_GANG_WAITS
};
const char *gang_wait_name(enum gang_wait wait);
/* For users. */
const char *gang_wait_text(enum gang_wait wait);

/* Why a plan ended unused, for counters. */
enum gang_end {
    GANG_END_NONE,
    GANG_END_IDLE,
    GANG_END_LONG,
    GANG_END_DISPLACED,
    GANG_END_NOT_OFFERED,
    GANG_END_CHANGED,
    N_GANG_ENDS
};
const char *gang_end_name(enum gang_end end);

enum gang_next {
    GANG_REST, /* nothing to do now */
    GANG_PLAN, /* gang_turns_allow() or gang_turns_failed() follows at once */
    GANG_DROP, /* give up what its plan keeps */
};

struct gang_step {
    enum gang_next next;
    const char *key;
    enum gang_end why; /* of GANG_DROP */
};

struct gang_turns;

struct gang_turns *gang_turns_new(void);
void gang_turns_free(struct gang_turns *turns);
/* From now on; what was planned under other limits stays for its time. */
void gang_turns_limit(struct gang_turns *turns, const struct gang_limits *limits);

/* All groups that are not running. Others are forgotten: they run, or are gone. */
void gang_turns_see(struct gang_turns *turns, const struct gang_sight *sights, size_t n,
                    int64_t now_ms);
/* Until GANG_REST. wake_ms: when kube-scheduler can be told of a plan at the earliest. */
struct gang_step gang_turns_next(struct gang_turns *turns, int64_t now_ms, int64_t wake_ms);

/* Nodes were chosen, which takes these GPUs. GANG_WAIT_NONE: the plan is made; else it must not be
 * kept. */
enum gang_wait gang_turns_allow(struct gang_turns *turns, const char *key,
                                const struct gang_kept *kept, size_t n_kept, int64_t now_ms);
/* The plan cannot be made: GANG_WAIT_ROOM or GANG_WAIT_NEVER. Also after gang_turns_allow(), if the
 * ledger changed meanwhile. */
void gang_turns_failed(struct gang_turns *turns, const char *key, enum gang_wait why);
/* What the last attempt found, for users. */
struct gang_lack {
    size_t n_fit;   /* members that would have a place, before the one that has none */
    char text[128]; /* "lacks 8 H100"; "": unknown */
};
void gang_turns_lacks(struct gang_turns *turns, const char *key, const struct gang_lack *lack);
/* An attempt took so long. */
void gang_turns_cost(struct gang_turns *turns, int64_t now_ms, int64_t cost_ms);

/* kube-scheduler was given a place of the plan for a member: by a hash of its UID. */
void gang_turns_offered(struct gang_turns *turns, const char *key, uint64_t uid, int64_t now_ms);
/* kube-scheduler did not offer the node of a place: by a hash of its name. */
void gang_turns_not_offered(struct gang_turns *turns, const char *key, uint64_t node);
/* Whether a plan should do without the node. */
bool gang_turns_avoids(const struct gang_turns *turns, const char *key, uint64_t node);

/* The machine's view of a group, for answers. */
struct gang_turn {
    enum gang_treatment treatment; /* how the verbs should treat its members */
    enum gang_wait wait;
    int64_t tried_ms;             /* the last attempt; 0: none */
    int64_t since_ms;             /* when it was first seen, or began to be planned */
    int64_t not_before_ms;        /* 0: no pause */
    int64_t ends_ms;              /* of its plan; 0: none */
    int64_t partial_ms;           /* since when some of its members are bound; 0: none is */
    uint64_t missed;              /* a node that kube-scheduler did not offer: a hash; 0: none */
    const struct gang_lack *lack; /* until the next call; NULL: unknown */
};
/* Zeros: the machine has not seen it. */
struct gang_turn gang_turns_find(const struct gang_turns *turns, const char *key);
/* GPU-seconds without a binding, so far. */
int64_t gang_turns_kept_s(const struct gang_turns *turns);

#endif
