/*
 * scheduler_file: kube-scheduler's configuration (kube-scheduler --config FILE), with positions.
 */
#ifndef DOCTOR_SCHEDULER_FILE_H
#define DOCTOR_SCHEDULER_FILE_H

#include "base/err.h"
#include "formats/yaml_json.h"

#include <jansson.h>
#include <stddef.h>

struct scheduler_file {
    struct yaml_file yaml;
    struct yaml_places *places;
    json_t *root; /* an object */
    json_t *ours; /* this service's extender, once scheduler_checks_run() found it; or NULL */
};

/* Reads a KubeSchedulerConfiguration of any version. A negative errno: the file cannot be read, is
 * too large, or is none. name is borrowed. The caller frees with scheduler_file_fini(). */
int scheduler_file_read(const char *name, struct scheduler_file *ret_file, struct err *err);
void scheduler_file_fini(struct scheduler_file *file);
/* The text of a member; "": it has none. */
const char *scheduler_text(const json_t *object, const char *key);

/* An item of a list of the file, and its place. Must not be copied: at points into it. */
struct scheduler_item {
    struct yaml_value at;
    char index[24];
    char path[256];
};

/* format and its arguments: the path of the list. A path that is too long is cut. */
void scheduler_item_place(struct scheduler_item *item, json_t *list, size_t i, const char *format,
                          ...) __attribute__((format(printf, 4, 5)));

#endif
