/*
 * scheduler_checks: kube-scheduler's configuration against the policy.
 *
 * kube-scheduler's own validation (pkg/scheduler/apis/config/validation) makes it refuse a file;
 * such faults are a fail, and so is what makes it decide without this service or against it.
 */
#ifndef DOCTOR_SCHEDULER_CHECKS_H
#define DOCTOR_SCHEDULER_CHECKS_H

#include "base/err.h"
#include "config/settings.h"
#include "doctor/findings.h"
#include "formats/yaml_json.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- duration ---- */
/* Times as Kubernetes' configuration files have them: "3s", "1m30s", "500ms".  Source:
 * time.ParseDuration of Go, which reads metav1.Duration. */

/* False: the text is no duration, or longer than a thousand years. Less than a millisecond is
 * dropped. */
bool duration_parse(const char *text, int64_t *ret_ms);

/* ---- the parts of an extender's urlPrefix, and of an address of the policy ---- */

#define SCHEDULER_HOST_MAX 256

struct scheduler_url {
    bool https;
    char host[SCHEDULER_HOST_MAX]; /* without brackets */
    long port;
    const char *path; /* within the text: "/scheduler"; "" if there is none */
};

/* False: the text is no URL with http or https, or has a user, a query or a fragment. */
bool scheduler_url_parse(const char *text, struct scheduler_url *ret_url);
/* Whether the last part of the path is "scheduler", under which the verbs are. */
bool scheduler_url_is_ours(const struct scheduler_url *url);
/* localhost or a loopback address. */
bool scheduler_host_is_local(const char *host);
/* ADDR:PORT of the policy, which was checked. */
void scheduler_address_split(const char *address, char ret_host[SCHEDULER_HOST_MAX],
                             long *ret_port);

/* ---- kube-scheduler's configuration (kube-scheduler --config FILE), with positions ---- */

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

/* ---- scheduler checks ---- */

/* Findings about values of kube-scheduler's configuration, and what its checks share. */

struct scheduler_checks {
    const struct scheduler_file *file;
    const struct settings *settings;
    const char *verbs_address; /* ADDR:PORT */
    struct findings *findings;
    json_t *extenders; /* a list, or NULL */
    size_t index;      /* of ours */
    json_t *ours;      /* this service's extender; NULL: there is none, or several */
};

/* A finding about a member of our extender, with its position (the extender's if it is absent). The
 * check's name is "scheduler." and the key. */
void scheduler_report(const struct scheduler_checks *checks, enum finding_level level,
                      const char *key, const char *advice, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
/* The same about any value of the file. */
void scheduler_report_at(const struct scheduler_checks *checks, enum finding_level level,
                         const char *key, const struct yaml_value *at, const char *advice,
                         const char *format, ...) __attribute__((format(printf, 6, 7)));

/* All checks of the file; finds file->ours. */
void scheduler_checks_run(struct scheduler_file *file, const struct settings *settings,
                          const char *verbs_address, struct findings *findings);

/* managedResources of our extender, which decide which pods come. */
void scheduler_list_check(const struct scheduler_checks *checks);

/* Whether pods that ask only for the resource come to our extender: it lists the resource, or has
 * no list. True if there is no such extender, which has a finding of its own. */
bool scheduler_list_manages(const struct scheduler_file *file, const char *resource);

/* The members of our extender, one by one. */
void scheduler_ours_check(const struct scheduler_checks *checks);

/* What kube-scheduler validates of all extenders together, ours and others.
 *
 * Sources: validateExtenders() in Kubernetes' pkg/scheduler/apis/config/validation, 1.36, and
 * TLSConfigFor() in client-go's transport. */

/* A fail for each fault with which kube-scheduler does not start. checks->ours is not needed. */
void scheduler_extenders_check(const struct scheduler_checks *checks);

/* Whether kube-scheduler accepts the name in managedResources. */
bool scheduler_extenders_may_manage(const char *resource);

/* Profiles, nodes to score, weights of plugins, and the Lease of kube-scheduler. */
void scheduler_profiles_check(const struct scheduler_checks *checks);

/* The keys of a KubeSchedulerConfiguration and the types of their values.
 *
 * kube-scheduler decodes its file strictly: it does not start with an unknown key or a value of
 * another type. Outside of extenders an unknown key is only a warn, as a later version may know
 * it. Args are read of the plugins that are kube-scheduler's own, and judged as if they were in
 * use. */

/* A finding for each unknown key and each value of a wrong type, an ok if there is none. */
void scheduler_schema_check(const struct scheduler_file *file, struct findings *findings);

#endif
