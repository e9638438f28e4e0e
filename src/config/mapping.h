/*
 * mapping: reads nested mappings and lists of the policy file. A table of keys describes each
 * mapping. Private to config.
 */
#ifndef CONFIG_MAPPING_H
#define CONFIG_MAPPING_H

#include "base/arena.h"
#include "config/syntax.h"
#include "formats/yaml_json.h"
#include "setting.h"
#include "types/policy.h"

#define MAPPING_PATH_MAX 256

struct mapping_reading {
    const struct yaml_file *file;
    struct policy *policy;
    struct arena *arena; /* of what is read */
    struct err *err;
    const struct setting *setting; /* the row of the whole value */
    struct settings *settings;     /* which have it */
};

/* A value inside another one. */
struct mapping_spot {
    char key[24]; /* of an item */
    char path[MAPPING_PATH_MAX];
    struct yaml_value at;
};

void mapping_item(const struct yaml_value *list, size_t i, struct mapping_spot *ret_spot);
void mapping_member(const struct yaml_value *map, const char *key, struct mapping_spot *ret_spot);

struct mapping_key {
    const char *key;
    mapping_reader *read; /* NULL: mapping_text() */
    syntax_check *check;  /* of the text */
    size_t at;            /* offsetof the text, a const char *, in the target */
};

/* Each returns 0, or -EINVAL with reading->err set. */

/* A key without a value counts as absent. */
int mapping_read(const struct mapping_reading *reading, const struct yaml_value *map,
                 const struct mapping_key *members, size_t n, void *target);
/* Reads each item of a list. */
int mapping_items(const struct mapping_reading *reading, const struct yaml_value *list,
                  mapping_reader *read, void *target);
/* Gives the length of a list with at least one item. */
int mapping_check_list(const struct mapping_reading *reading, const struct yaml_value *list,
                       const char *of_what, size_t *ret_n);
int mapping_text(const struct mapping_reading *reading, const struct yaml_value *at,
                 syntax_check *check, const char **ret_text);
/* A list without duplicates. */
int mapping_texts(const struct mapping_reading *reading, const struct yaml_value *list,
                  syntax_check *check, const char *const **ret_texts, size_t *ret_n);

/* A label selector of the policy file (Kubernetes API, LabelSelector). Adds its requirements to the
 * term. */
int selector_read(const struct mapping_reading *reading, const struct yaml_value *at,
                  struct selector_term *term);

#endif
