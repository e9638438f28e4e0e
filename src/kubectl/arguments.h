/*
 * arguments: the command line of kubectl gpu.
 */
#ifndef KUBECTL_ARGUMENTS_H
#define KUBECTL_ARGUMENTS_H

#include "base/arena.h"
#include "base/err.h"
#include "verb_table.h"

#include <stdbool.h>
#include <stddef.h>

enum form { FORM_TABLE, FORM_WIDE, FORM_JSON, FORM_YAML, FORM_NAME };

enum change_option {
    OPTION_ADD_NODES, /* NODE or NODE=COUNT */
    OPTION_CORDON,    /* the others: NAME,... */
    OPTION_DRAIN,
    OPTION_LIFT,
    OPTION_REMOVE_PODS,
    OPTION_CHANGES /* a file; "-": standard input */
};

/* An option of what-if that changes the cluster. */
struct asked_option {
    enum change_option option;
    const char *value;
};

struct file_names {
    const char **items;
    size_t n, room;
};

/* Strings are argv's or in the arena; NULL: not given. */
struct arguments {
    enum verb verb;
    const char *object; /* NODE, POD or KIND/NAME */
    const char *namespace_;
    enum form form;
    bool no_headers;
    struct file_names manifests; /* files and folders; "-": standard input */
    bool recursive;              /* also folders in those folders */
    const char *model;
    const char *selector;         /* of labels */
    struct asked_option *changes; /* in the order of the command line */
    size_t n_changes;
    const struct option_facts **options; /* that were given, without those of kubectl */
    size_t n_options;
    unsigned given; /* bits of enum takes */
    /* One of these two, or neither: through kubectl. */
    const char *cluster_file;
    const char *url;
    const char *policy; /* of the cluster file */
    /* Options of kubectl that also count for url. */
    const char *token, *authority, *certificate, *key;
    const char *tls_server_name; /* of the certificate, if the URL names another host */
    bool insecure;
    /* All options of kubectl, each as --NAME=VALUE; ends with NULL. */
    const char **of_kubectl;
    size_t n_of_kubectl;
    bool wants_help, wants_version;
    bool is_answered; /* by --help or --version: there is nothing to do */
};

/* For completion: the words of an unfinished command line, as far as they can be read.
 * *ret_n_words: of the verb (if it is one) and its objects. */
void arguments_parse_unfinished(int argc, char **argv, struct arena *arena,
                                struct arguments *ret_arguments, size_t *ret_n_words);
/* By index; NULL past the end. */
const char *arguments_form_name(size_t i);
/* The long name of an option "--NAME" or "-X" that needs a value; NULL: it is no such option. */
const char *arguments_awaiting(const char *word);

void arguments_add_name(struct file_names *names, const char *name, struct arena *arena);

/* -EINVAL with a message. --help, the verb help and --version print to standard output and set
 * is_answered. program: the command as users type it, for --help. */
int arguments_parse(int argc, char **argv, const char *program, struct arena *arena,
                    struct arguments *ret_arguments, struct err *err);

#endif
