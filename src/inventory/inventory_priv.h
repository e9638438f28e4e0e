/*
 * inventory_priv: the ledger, its lock and the data of a live inventory. Private to inventory.
 */
#ifndef INVENTORY_INVENTORY_PRIV_H
#define INVENTORY_INVENTORY_PRIV_H

#include "base/arena.h"
#include "inventory/inventory.h"
#include "inventory_lock.h"

/* ---- objects that were left out, with the reason ---- */

/* Further problems are only counted. */
#define PROBLEMS_MAX 1000

/* For an object without a name. */
#define PROBLEMS_UNNAMED "(unnamed)"
#define PROBLEMS_NO_NAME "has no metadata.name"

struct problems {
    struct arena *arena;
    struct inventory_problem items[PROBLEMS_MAX];
    size_t n; /* of items */
    size_t n_all;
};

struct problems *problems_new(void);
void problems_free(struct problems *problems);
/* Copies the strings, and logs the problem. */
void problems_add(struct problems *problems, const char *kind, const char *name, const char *what);

/* ---- inventory priv ---- */

/* Objects that are copied per hold of the lock: about half a millisecond. */
#define STEP_OBJECTS ((size_t)100)

struct live;

/* A ledger and its metadata, replaced as a whole. */
struct state {
    struct cluster *cluster;
    struct problems *problems; /* from the file */
    int64_t as_of_s;           /* from the file */
    char *source;
    struct err claims_uncounted; /* of the file: why its claims are not counted; "": they are */
    const char *claims_note;     /* of the file: why they count as none; NULL: it has some */
};

struct inventory {
    struct inventory_limits limits;
    struct inventory_lock lock; /* guards state, and live's problems and refused pods */
    struct state state;
    struct cluster *replaced; /* by another policy, until its forks are freed; NULL: none */
    bool loaded;              /* a cluster file was read completely */
    uint64_t n_loaded;        /* how often that was so */
    uint64_t n_ledgers;       /* how often another ledger came in */
    struct live
        *live; /* NULL: the ledger comes from a file. Set once, before other threads start. */
};

#endif
