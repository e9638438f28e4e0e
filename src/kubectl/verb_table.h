/*
 * verb_table: the verbs and options of kubectl gpu, for its command line, completion and help. A
 * test compares the manual page with them.
 */
#ifndef KUBECTL_VERB_TABLE_H
#define KUBECTL_VERB_TABLE_H

#include <stddef.h>

struct session;

enum verb {
    VERB_NODES,
    VERB_FIT,
    VERB_PENDING,
    VERB_QUOTA,
    VERB_GROUPS,
    VERB_WHY,
    VERB_PODS,
    VERB_FRAG,
    VERB_CLAIMS,
    VERB_DECISIONS,
    VERB_DOCTOR,
    VERB_WHAT_IF,
    VERB_NODE_GROUPS,
    VERB_UI,
    VERB_VERSION,
    VERB_HELP,
    N_VERBS
};

/* A set of bits: options and words that some verbs take. */
enum takes {
    TAKES_NAMESPACE = 1,
    TAKES_ALL = 2,
    TAKES_MODEL = 4,
    TAKES_MANIFEST = 8,
    TAKES_WATCH = 16,
    TAKES_FORM = 32,
    TAKES_NAMES = 64, /* --output=name */
    TAKES_OBJECT = 128,
    NEEDS_OBJECT = 256,
    TAKES_CHANGES = 512,
    TAKES_SELECTOR = 1024
};

struct verb_facts {
    const char *name, *object, *help; /* object: what follows it */
    unsigned takes;                   /* bits of enum takes */
    const char *columns;              /* of its table: "NAME\ttext\n" each; "": it has none */
    const char *example;              /* its words, over examples/sample-cluster.yaml */
    int (*run)(struct session *session);
};

/* By enum verb. */
extern const struct verb_facts VERB_TABLE[N_VERBS];

/* How getopt calls an option: its letter, or one of these. */
enum key {
    KEY_ALL = 'A',
    KEY_HELP = 'h',
    KEY_SELECTOR = 'l',
    KEY_MANIFEST = 'f',
    KEY_NAMESPACE = 'n',
    KEY_OUTPUT = 'o',
    KEY_RECURSIVE = 'R',
    KEY_SERVER = 's',
    KEY_WATCH = 'w',
    KEY_OF_KUBECTL = 256, /* passed on; not otherwise used */
    KEY_ADD_NODES,        /* these in the order of enum change_option */
    KEY_CORDON,
    KEY_DRAIN,
    KEY_LIFT,
    KEY_REMOVE_PODS,
    KEY_CHANGES,
    KEY_AUTHORITY,
    KEY_TLS_SERVER_NAME,
    KEY_CERTIFICATE,
    KEY_CLUSTER_FILE,
    KEY_CONFIG,
    KEY_INSECURE,
    KEY_KEY,
    KEY_MODEL,
    KEY_NO_HEADERS,
    KEY_TOKEN,
    KEY_URL,
    KEY_VERSION
};

struct option_facts {
    const char *name;
    const char *value; /* what must follow it, as help shows it; NULL: nothing may */
    int key;
    unsigned takes;   /* the bit of the verbs that take it; 0: of all */
    const char *help; /* NULL: as kubectl's */
};

#define N_OPTIONS 36

/* --help is the last one. */
extern const struct option_facts OPTION_TABLE[N_OPTIONS];

/* Help on standard output: of one verb; NULL: of all. program: the command as users type it. */
void verb_table_print(const char *program, const struct verb_facts *verb);

#endif
