/*
 * oracle: devices as a model too simple to be wrong. It keeps nothing but the objects and computes
 * every number from them with nested loops.
 */
#ifndef DEVICES_ORACLE_H
#define DEVICES_ORACLE_H

#include "dra/devices.h"

#define ORACLE_SLICES 10
#define ORACLE_CLAIMS 8
#define ORACLE_RULES 4
#define ORACLE_DRIVERS 3 /* the last is no GPU driver */
#define ORACLE_POOLS 3   /* of each driver */
#define ORACLE_PLACES 4  /* the first is "" */
#define ORACLE_NAMES 6   /* of devices */
#define ORACLE_MODELS 4
#define ORACLE_PROFILES 3 /* the first is "" */
#define ORACLE_KEYS 3     /* physical; the first is "" */
#define ORACLE_SETS 3
#define ORACLE_COUNTERS 3
#define ORACLE_ANY ORACLE_NAMES /* of a rule */

#define ORACLE_DEVICES_MAX 4 /* of a slice */
#define ORACLE_RESULTS_MAX 3 /* of a claim */

extern const char *const ORACLE_DRIVER[ORACLE_DRIVERS];
extern const char *const ORACLE_POOL[ORACLE_POOLS];
extern const char *const ORACLE_PLACE[ORACLE_PLACES];
extern const char *const ORACLE_NAME[ORACLE_NAMES];
extern const char *const ORACLE_TEXT[ORACLE_MODELS];
extern const char *const ORACLE_PROFILE[ORACLE_PROFILES];
extern const char *const ORACLE_KEY[ORACLE_KEYS];
extern const char *const ORACLE_SET[ORACLE_SETS];
extern const char *const ORACLE_COUNTER[ORACLE_COUNTERS];

/* Amounts by counter; -1: without this counter. */
struct oracle_set {
    unsigned name;
    int64_t amounts[ORACLE_COUNTERS];
};

/* Members are indexes of the tables above. */
struct oracle_device {
    unsigned name, model, profile, key, place;
    int64_t memory_bytes;
    bool is_tainted, not_judged;
    struct oracle_set consumes[2];
    unsigned n_consumes;
};

struct oracle_slice {
    bool is_there, is_unreadable;
    unsigned driver, pool, place;
    int64_t generation, n_slices;
    bool per_device;
    struct oracle_device devices[ORACLE_DEVICES_MAX];
    unsigned n_devices;
    struct oracle_set sets[2];
    unsigned n_sets;
};

struct oracle_claim {
    bool is_there, is_allocated;
    struct {
        unsigned driver, pool, name;
        bool is_admin, is_shared;
        unsigned amount; /* consumed of the device; 0: it does not say */
    } results[ORACLE_RESULTS_MAX];
    unsigned n_results;
};

struct oracle_rule {
    bool is_there;
    unsigned driver, pool, name; /* ORACLE_ANY: any */
};

struct oracle {
    struct oracle_slice slices[ORACLE_SLICES];
    struct oracle_claim claims[ORACLE_CLAIMS];
    struct oracle_rule rules[ORACLE_RULES];
};

/* What devices_on_node() should say, as text; the caller frees it. */
char *oracle_on_node(const struct oracle *oracle, unsigned place);
/* The same of devices. */
char *oracle_seen_on_node(const struct devices *devices, unsigned place);
/* What claims that share them consume of the devices of each driver, whole ones and partitions, and
 * how many such devices there are. */
struct oracle_shares {
    int64_t n[ORACLE_DRIVERS][2];
    int64_t consumed[ORACLE_DRIVERS][2];
};
struct oracle_shares oracle_shares(const struct oracle *oracle, unsigned place);
/* The same of devices. */
struct oracle_shares oracle_seen_shares(const struct devices *devices, unsigned place);
/* "slices are missing" or similar of a pool on a place; NULL: none. */
const char *oracle_unusable(const struct oracle *oracle, unsigned driver, unsigned pool,
                            unsigned place);

#endif
