/*
 * oracle_templates: a simple model of claim templates, and of what quotas count of pods whose
 * claims are not made from them yet.
 */
#ifndef DECIDE_ORACLE_TEMPLATES_H
#define DECIDE_ORACLE_TEMPLATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct oracle;

/* Those with an even number are in one namespace, the others in another, with the same names. */
#define ORACLE_TEMPLATES 6
#define ORACLE_WANTS 3
/* Of classes and wants: 0: none; else 1 + an enum oracle_driver, or one without GPUs. */
#define ORACLE_NO_GPUS (1 + N_ORACLE_DRIVERS)

/* Every member has eight bytes, as in oracle.h. */
struct oracle_want {
    int64_t class;  /* may be one that does not exist */
    int64_t driver; /* as above */
    int64_t n_devices;
};

struct oracle_template {
    int64_t there;
    int64_t n_wants;
    struct oracle_want wants[ORACLE_WANTS];
};

void oracle_put_template(struct oracle *oracle, size_t i, const struct oracle_template *template);
void oracle_remove_template(struct oracle *oracle, size_t i);
void oracle_keep_template(struct oracle *oracle, size_t i);
void oracle_begin_templates(struct oracle *oracle);
void oracle_end_templates(struct oracle *oracle);

/* The GPUs that the claim of the template will have at least, as quotas count them; 0 for one that
 * does not exist. */
int64_t oracle_gpus_of_template(const struct oracle *oracle, size_t i);

#endif
