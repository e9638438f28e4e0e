/*
 * scheduler_fields: the members of a KubeSchedulerConfiguration, the args of its plugins included,
 * and which values kube-scheduler accepts there.
 *
 * Source: k8s.io/kube-scheduler/config/v1, k8s.io/component-base/config/v1alpha1, and Kubernetes'
 * pkg/scheduler/apis/config/validation/validation_pluginargs.go, 1.36.
 */
#ifndef DOCTOR_SCHEDULER_FIELDS_H
#define DOCTOR_SCHEDULER_FIELDS_H

#include "config/syntax.h"

#include <jansson.h>

#include <stdbool.h>

#define SCHEDULER_API_VERSION "kubescheduler.config.k8s.io/v1"

enum scheduler_kind {
    TEXT,
    FLAG,
    LONG,   /* any whole number */
    SIGNED, /* int32 */
    WHOLE,  /* 0 to the largest int32 */
    POSITIVE,
    PERCENT,      /* 0 to 100 */
    SCORE,        /* 0 to 10 */
    ONE,          /* or 0, for the default */
    SKEW,         /* POSITIVE, and has no default */
    NUMBER,       /* also with a fraction */
    DURATION,     /* not null: metav1.Duration reads it as "" */
    NOT_NEGATIVE, /* durations */
    A_SECOND,
    OBJECT,
    ARGS, /* an OBJECT whose type depends on the plugin */
    LIST, /* of objects */
    TEXTS,
    BASE64, /* secret */
    LABEL_KEY,
    LABEL_KEYS,
    LABEL_VALUES,
    GROUPS,
    VERSION,
    OPERATOR,
    FIELD_OPERATOR,
    SCORING,
    DEFAULTING,
    UNSATISFIABLE,
    NOTHING,
    GATED, /* a feature gate that is off by default */
    N_SCHEDULER_KINDS
};

struct scheduler_field {
    const char *of; /* the struct; "": the whole file */
    const char *key;
    enum scheduler_kind kind;
    const char *type; /* the struct of an OBJECT and of a LIST's items */
};

/* NULL: there is none. */
const struct scheduler_field *scheduler_field_find(const char *of, const char *key);
/* The fields of a struct in turn; the first after NULL, NULL after the last. */
const struct scheduler_field *scheduler_field_next(const char *of,
                                                   const struct scheduler_field *previous);
/* The key of the struct that was probably meant, or NULL. */
const char *scheduler_field_nearest(const char *of, const char *key);
/* The struct of a plugin's args. NULL: kube-scheduler reads no args of a plugin of that name. */
const char *scheduler_field_args(const char *plugin);

/* The values that kube-scheduler accepts, besides null. */
extern const struct scheduler_rule {
    const char *right; /* "a string" */
    unsigned types;    /* bits of JSON types */
    bool is_required;
    /* NULL, or what values of these types must be, too, by what follows. */
    bool (*is_right)(const struct scheduler_rule *rule, const json_t *value);
    syntax_check *check;
    const char *const *words;
    json_int_t least, most; /* of a whole number; most 0: any */
} SCHEDULER_RULES[N_SCHEDULER_KINDS];

/* Whether the value, which is not null, is one of these. */
bool scheduler_field_accepts(enum scheduler_kind kind, const json_t *value);

#endif
