/*
 * kubeconfig: kubeconfig files in memory, the values in them with their places, and the target that
 * a list of files names.
 *
 * What the fields mean is the business of kubeconfig_fields.c. As nearly any value may be a secret
 * by mistake, messages tell the type of what is wrong, not the value.
 */
#ifndef KUBE_CONFIG_KUBECONFIG_H
#define KUBE_CONFIG_KUBECONFIG_H

#include "base/buf.h"
#include "formats/yaml_fault.h"
#include "kube/target.h"

#include <stddef.h>

struct kubeconfig_file {
    char *path;   /* as it was given */
    char *folder; /* absolute: relative paths in the file are relative to it */
    json_t *root; /* NULL: nothing is in it */
    struct yaml_places *places;
};

/* The file's code as errno where it cannot be read (-ENOENT: it is not there), -EINVAL where it is
 * no mapping. */
int kubeconfig_file_read(const char *path, struct kubeconfig_file *ret_file, struct err *err);
/* The same for a text at hand. */
int kubeconfig_file_parse(const char *path, const char *text, size_t len,
                          struct kubeconfig_file *ret_file, struct err *err);
void kubeconfig_file_fini(struct kubeconfig_file *file);

/* A value of the file. */
struct kubeconfig_value {
    const struct kubeconfig_file *file;
    json_t *value; /* NULL: it is not there */
    char path[160];
    /* Its place in the file; of what is not there, the place of what it should be in. */
    json_t *container; /* NULL: the whole file */
    char key[48];
    json_t *placed;
};

struct kubeconfig_value kubeconfig_root(const struct kubeconfig_file *file);
/* A member of an object. null, "", [] and {} count as not there, as in Kubernetes' types. */
struct kubeconfig_value kubeconfig_member(const struct kubeconfig_value *object, const char *key);
struct kubeconfig_value kubeconfig_item(const struct kubeconfig_value *array, size_t i);

/* "FILE:LINE:COLUMN: path: " and the message; -EINVAL. */
int kubeconfig_fault(const struct kubeconfig_value *value, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* "is a number, should be RIGHT", or "is missing, should be RIGHT". */
int kubeconfig_wrong(const struct kubeconfig_value *value, const char *right, struct err *err);

/* The member, which must be of the type if it is there. */
int kubeconfig_get(const struct kubeconfig_value *object, const char *key, json_type type,
                   struct kubeconfig_value *ret_value, struct err *err);

/* The object of that name in a list such as "clusters". -ENOENT (without a message): there is none.
 */
int kubeconfig_find(const struct kubeconfig_file *file, const char *list, const char *name,
                    struct kubeconfig_value *ret_item, struct err *err);
/* Adds the names of a list, with ", " between them and what is in the text before. */
void kubeconfig_add_names(const struct kubeconfig_file *file, const char *list, struct buf *text);

/* Merged as kubectl does: the first file that has a cluster, user or context of a name, or a
 * current-context, is the one that counts. context NULL: the current one. -EINVAL. */
int kubeconfig_choose(const struct kubeconfig_file *files, size_t n_files, const char *context,
                      struct kube_target *ret_target, struct err *err);

/* paths has ':' between; files that are not there are skipped. -ENOENT: none is there. */
int kubeconfig_read_list(const char *paths, const char *context, struct kube_target *ret_target,
                         struct err *err);
/* One file. */
int kubeconfig_read_one(const char *path, const char *context, struct kube_target *ret_target,
                        struct err *err);

#endif
