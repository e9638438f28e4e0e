/*
 * options: the command line.
 */
#ifndef CONFIG_OPTIONS_H
#define CONFIG_OPTIONS_H

#include "base/err.h"
#include "base/log.h"

#include <stdbool.h>

enum output { OUTPUT_TEXT, OUTPUT_JSON };

/* Strings are argv's; NULL: not given. */
struct options {
    const char *config_file;
    const char *cluster_file;
    const char *kubeconfig;
    const char *context;
    const char *listen; /* ADDR:PORT for verbs, people and probes together */
    char listen_on[32]; /* what a short form of listen means; "": listen is complete */
    bool check;         /* only read and validate */
    bool without_files; /* check: not the files that the policy names */
    bool print_policy;
    bool doctor;                  /* check the configuration; the next three belong to it */
    const char *scheduler_config; /* kube-scheduler's configuration */
    const char *account;          /* NAMESPACE/NAME of this service's ServiceAccount */
    enum output output;
    enum log_level log_level;
    enum log_format log_format;
};

/* -EINVAL with a message on invalid arguments. --help and --version print to standard output and
 * set *ret_done. commit: of the tree that was built, for --version. */
int options_parse(int argc, char **argv, const char *commit, struct options *ret_options,
                  bool *ret_done, struct err *err);

#endif
