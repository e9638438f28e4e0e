/*
 * device_facts: devices and claims of dynamic resource allocation (DRA), as plain values.
 *
 * objects/ reads them from JSON into a request's arena; the ledger copies those that it keeps. They
 * have only what counting and selectors need. Source: Kubernetes API resource.k8s.io/v1 (v1beta2,
 * v1beta1); the maximums are those of its validation, which decoders enforce.
 */
#ifndef TYPES_DEVICE_FACTS_H
#define TYPES_DEVICE_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Devices of one slice. */
#define SLICE_DEVICES_MAX 128
/* Allocated devices of one claim. */
#define CLAIM_RESULTS_MAX 32
/* Pods that use one claim. */
#define CLAIM_HOLDERS_MAX 256
#define CLAIM_HOLDER_BYTES_MAX 64 /* of a UID; holders with a longer one are only counted */

/* A resource that overlapping devices share, such as memory slices of a GPU. */
struct device_counter {
    const char *name;
    int64_t amount; /* the quantity rounded up; at most INT64_MAX */
};

/* Counters of a pool, or the part of them that a device consumes. */
struct counter_set {
    const char *name;
    const struct device_counter *counters; /* sorted by name */
    size_t n_counters;
};

/* An attribute or a capacity, as selectors read it. */
struct device_attribute {
    const char *name;  /* "gpu.nvidia.com/type": with the driver as its domain if it has none */
    const char *value; /* one letter for its type, and the value: "sgpu", "i2", "btrue", "v9.0.0";
                        * of a capacity "q40Gi"; "?": of another type */
};
/* Further attributes are left out. The API allows 32. */
#define DEVICE_ATTRIBUTES_MAX 64

struct device_facts {
    const char *name;
    const struct device_attribute *attributes;
    size_t n_attributes;
    const char *model;    /* value of the driver's model attribute; "" without one */
    const char *profile;  /* of a partition ("1g.10gb"); "" if it is none */
    const char *physical; /* same text, same GPU: its PCI bus ID or UUID; "": unknown */
    int64_t memory_bytes; /* capacity "memory"; 0 without one; at most INT64_MAX */
    /* The one node that reaches it. "": several may, or the slice says which (node_name there). */
    const char *node_name;
    bool is_tainted;       /* by the slice: NoSchedule or NoExecute */
    bool not_judged;       /* has a field that must be understood and is not: never free */
    bool allows_multiple;  /* allowMultipleAllocations */
    bool lacks_attributes; /* some are left out: no selector can be judged */
    const struct counter_set *consumes; /* parts of sets of the pool, by their names */
    size_t n_consumes;
    const char *details; /* what is not counted (objects/device_details.h); NULL: none */
};

struct slice_facts {
    const char *name; /* the key */
    const char *driver, *pool;
    int64_t generation;
    int64_t n_slices; /* of the pool in this generation; >= 1 */
    /* The one node that reaches all its devices (nodeName, or a nodeSelector for one
     * metadata.name). "": several nodes may, or each device says itself. */
    const char *node_name;
    bool per_device; /* perDeviceNodeSelection */
    /* In the ledger: the slice cannot be read any more, and these facts are the last known. With a
     * driver that the policy does not name: also if its devices cannot be read, or are left out. */
    bool is_unreadable;
    const struct device_facts *devices; /* in the slice's order */
    size_t n_devices;
    const struct counter_set *counter_sets;
    size_t n_counter_sets;
    const char *details; /* as of a device */
};

/* One allocated device. */
struct claim_result {
    const char *driver, *pool, *device;
    bool is_admin;  /* admin access: does not use the device */
    bool is_shared; /* has a shareID: other claims may use the device, too */
    /* If shared, what it takes of capacities (objects/device_details.h); NULL: it does not say. */
    const char *consumed;
};

/* Devices that a claim asks of one device class and one driver, by its spec. */
struct claim_want {
    const char *class_name; /* "": alternatives have several */
    const char *driver;     /* by the request's selectors; "": they do not say. Not both are "". */
    int64_t n_devices;      /* at least so many; > 0 */
};

/* Wants of one claim; further ones are not kept. */
#define CLAIM_WANTS_MAX 4

struct claim_facts {
    const char *namespace_, *name, *uid;
    /* The devices that the claim gets at least by its spec: a request with alternatives counts as
     * its smallest one, admin access as 0. At most CLAIM_DEVICES_MAX. */
    int64_t n_devices;
    bool wants_all;        /* a request with allocationMode All: counts as 1 in n_devices */
    bool has_alternatives; /* a request with two or more in firstAvailable */
    /* The part of n_devices of which the class or the driver is known: alternatives may have
     * several. Each pair once. */
    const struct claim_want *wants;
    size_t n_wants;
    bool is_allocated;
    const struct claim_result *results;
    size_t n_results;
    const char *const *holders;      /* UIDs of pods in the claim's namespace, status.reservedFor */
    const char *const *holder_names; /* of the same pods, "": not kept; NULL: none is */
    size_t n_holders;
    size_t n_all_holders; /* with those whose UID is not kept, and those that are no pods */
    /* UID of the pod for whose extended resources kube-scheduler made the claim; "": another claim.
     * Tenants can forge it: it counts only if that pod's status names the claim. */
    const char *extended_for_uid;
    const char *owner_uid; /* of the controlling owner; NULL or "": none */
    bool terminating;      /* deletion has begun */
    /* It is allocated, and its driver has not set all binding conditions of its devices. */
    bool is_unready;
    /* JSON of spec.devices without its config, and of the nodeSelector of an allocation ("": none).
     * Only an allocated claim has the second. NULL: not kept. */
    const char *spec, *nodes;
    const char *labels; /* of its metadata (objects/label_text.h); NULL: not kept */
};
/* Longer ones are not kept. */
#define CLAIM_TEXT_BYTES_MAX ((size_t)16384)
/* The texts of all claims together, and those of all templates; further ones are not kept. */
#define CLAIM_TEXTS_BYTES_MAX ((size_t)64 << 20)
/* The same for the labels of all claims. */
#define CLAIM_LABELS_BYTES_MAX ((size_t)16 << 20)

#define CLAIM_DEVICES_MAX (INT64_C(1) << 32)

/* A ResourceClaimTemplate: what the claims that are made from it will request. */
struct claim_template_facts {
    const char *namespace_, *name;
    const struct claim_want *wants; /* as in struct claim_facts */
    size_t n_wants;
    const char *spec; /* the same, of spec.spec */
};

/* A DeviceTaintRule with a deviceSelector, and the effect NoSchedule or NoExecute; others taint
 * nothing. A NULL member matches all. */
struct device_taint_facts {
    const char *name; /* the key */
    const char *driver, *pool, *device;
    const char *key, *value, *effect; /* NULL: not set */
};

/* Hypothetical slices and taint rules: each hides the ledger's object of the same name. A rule that
 * taints nothing has the effect None. */
struct given_devices {
    struct slice_facts *slices;
    size_t n_slices; /* at most GIVEN_DEVICES_MAX; so are the rules */
    struct device_taint_facts *rules;
    size_t n_rules;
};
#define GIVEN_DEVICES_MAX ((size_t)500)

#endif
