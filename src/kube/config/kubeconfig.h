/*
 * kubeconfig: parsed kubeconfig files, their values with positions, and the target that a list of
 * files selects.
 *
 * kubeconfig_fields.c knows the fields. Any value may be a misplaced secret, so messages show the
 * type of a wrong value, not the value.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_H
#define KUBE_CONFIG_KUBECONFIG_H

#include "base/buf.h"
#include "formats/yaml_json.h"
#include "kube/target.h"

#include <stddef.h>

struct kubeconfig_file {
    char *path;   /* as given */
    char *folder; /* absolute; the base of relative paths in the file */
    json_t *root; /* NULL: an empty file */
    struct yaml_places *places;
};

/* Negative errno if the file cannot be read (-ENOENT: it does not exist), -EINVAL if it is no
 * mapping. */
int kubeconfig_file_read(const char *path, struct kubeconfig_file *ret_file, struct err *err);
/* The same for text in memory; path is for messages. */
int kubeconfig_file_parse(const char *path, const char *text, size_t len,
                          struct kubeconfig_file *ret_file, struct err *err);
void kubeconfig_file_fini(struct kubeconfig_file *file);

/* A value in the file; borrows the file. */
struct kubeconfig_value {
    const struct kubeconfig_file *file;
    json_t *value; /* NULL: absent */
    char path[160];
    /* Its position; of an absent value, that of its parent. */
    json_t *container; /* NULL: the file itself */
    char key[48];
    json_t *placed;
};

struct kubeconfig_value kubeconfig_root(const struct kubeconfig_file *file);
/* A member of an object. null, "", [] and {} count as absent, as in Kubernetes' types. */
struct kubeconfig_value kubeconfig_member(const struct kubeconfig_value *object, const char *key);
struct kubeconfig_value kubeconfig_item(const struct kubeconfig_value *array, size_t i);

/* Sets "FILE:LINE:COLUMN: path: " and the message; returns -EINVAL. */
int kubeconfig_fault(const struct kubeconfig_value *value, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "is a number, should be RIGHT", or "is missing, should be RIGHT". */
int kubeconfig_wrong(const struct kubeconfig_value *value, const char *right, struct err *err);

/* Returns the member, absent or of that type; else -EINVAL. */
int kubeconfig_get(const struct kubeconfig_value *object, const char *key, json_type type,
                   struct kubeconfig_value *ret_value, struct err *err);

/* Finds the object with that name in a list such as "clusters". -ENOENT: none, without a
 * message. */
int kubeconfig_find(const struct kubeconfig_file *file, const char *list, const char *name,
                    struct kubeconfig_value *ret_item, struct err *err);
/* Appends the names of a list, separated by ", ". */
void kubeconfig_add_names(const struct kubeconfig_file *file, const char *list, struct buf *text);

/* Merges as kubectl does: the first file with a cluster, user, context of that name or a
 * current-context wins. context NULL: the current one. -EINVAL on any fault. */
int kubeconfig_choose(const struct kubeconfig_file *files, size_t n_files, const char *context,
                      struct kube_target *ret_target, struct err *err);

/* paths: separated by ':'; missing files are skipped. -ENOENT: all are missing. */
int kubeconfig_read_list(const char *paths, const char *context, struct kube_target *ret_target,
                         struct err *err);
int kubeconfig_read_one(const char *path, const char *context, struct kube_target *ret_target,
                        struct err *err);

#endif
