/* arguments: see arguments.h. */
#include "arguments.h"
#include "base/buf.h"
#include "base/nearest.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define IN_NAMESPACES (TAKES_NAMESPACE | TAKES_ALL)

static const struct {
    const char *name, *object, *help;
    unsigned takes;
} VERBS[] = {
    [VERB_NODES] = {"nodes", "[NODE]", "GPUs of each node, and the pods that use them",
                    TAKES_MODEL | TAKES_SELECTOR | TAKES_OBJECT | TAKES_NAMES},
    [VERB_FIT] = {"fit", "-f FILE", "where a manifest's pods would go; for CI, too",
                  TAKES_MANIFEST | TAKES_NAMES},
    [VERB_PENDING] = {"pending", "", "the pods that wait for GPUs, and why",
                      IN_NAMESPACES | TAKES_SELECTOR | TAKES_NAMES},
    [VERB_QUOTA] = {"quota", "", "limits and use of each quota", IN_NAMESPACES | TAKES_NAMES},
    [VERB_WHY] = {"why", "POD | KIND/NAME", "one pod node by node: why it waits",
                  TAKES_NAMESPACE | TAKES_NAMES | TAKES_OBJECT | NEEDS_OBJECT},
    [VERB_FRAG] = {"frag", "", "free GPUs that typical pods cannot use",
                   TAKES_MODEL | TAKES_SELECTOR},
    [VERB_CLAIMS] = {"claims", "", "claims that hold GPUs, and the pods that use them",
                     IN_NAMESPACES | TAKES_SELECTOR | TAKES_NAMES},
    [VERB_DECISIONS] = {"decisions", "[POD]", "last answers to kube-scheduler; -w: new ones",
                        IN_NAMESPACES | TAKES_WATCH | TAKES_OBJECT | TAKES_NAMES},
    [VERB_DOCTOR] = {"doctor", "", "which answers you get, and if data are complete", 0},
    [VERB_WHAT_IF] = {"what-if", "--drain NODE ...", "where pods would go after changes",
                      TAKES_MANIFEST | TAKES_CHANGES},
    [VERB_NODE_GROUPS] = {"node-groups", "", "which pods one more node of a group would let run",
                          0},
    [VERB_UI] = {"ui", "", "the page, for a browser on this machine", 0},
};
#define N_VERBS (sizeof VERBS / sizeof *VERBS)

/* Options that only some verbs take. */
static const struct {
    unsigned bit;
    const char *option;
} LIMITED[] = {{TAKES_NAMESPACE, "--namespace"}, {TAKES_ALL, "--all-namespaces"},
               {TAKES_MODEL, "--model"},         {TAKES_MANIFEST, "--filename"},
               {TAKES_WATCH, "--watch"},         {TAKES_NAMES, "--output=name"},
               {TAKES_SELECTOR, "--selector"}};

static const char *const CHANGES[] = {[OPTION_ADD_NODES] = "--add-nodes",
                                      [OPTION_CORDON] = "--cordon",
                                      [OPTION_DRAIN] = "--drain",
                                      [OPTION_REMOVE_PODS] = "--remove-pods",
                                      [OPTION_CHANGES] = "--changes"};

static const char *const FORMS[] = {[FORM_TABLE] = "table",
                                    [FORM_WIDE] = "wide",
                                    [FORM_JSON] = "json",
                                    [FORM_YAML] = "yaml",
                                    [FORM_NAME] = "name"};

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
    KEY_REMOVE_PODS,
    KEY_CHANGES,
    KEY_AUTHORITY,
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

/* With the first colon getopt tells a missing value from an unknown option. */
#define LETTERS ":ARf:hl:n:o:s:w"

static const struct option OPTIONS[] = {
    {"add-nodes", required_argument, NULL, KEY_ADD_NODES},
    {"all-namespaces", no_argument, NULL, KEY_ALL},
    {"changes", required_argument, NULL, KEY_CHANGES},
    {"cluster-file", required_argument, NULL, KEY_CLUSTER_FILE},
    {"config", required_argument, NULL, KEY_CONFIG},
    {"cordon", required_argument, NULL, KEY_CORDON},
    {"drain", required_argument, NULL, KEY_DRAIN},
    {"filename", required_argument, NULL, KEY_MANIFEST},
    {"help", no_argument, NULL, KEY_HELP},
    {"model", required_argument, NULL, KEY_MODEL},
    {"namespace", required_argument, NULL, KEY_NAMESPACE},
    {"no-headers", no_argument, NULL, KEY_NO_HEADERS},
    {"output", required_argument, NULL, KEY_OUTPUT},
    {"recursive", no_argument, NULL, KEY_RECURSIVE},
    {"remove-pods", required_argument, NULL, KEY_REMOVE_PODS},
    {"selector", required_argument, NULL, KEY_SELECTOR},
    {"url", required_argument, NULL, KEY_URL},
    {"version", no_argument, NULL, KEY_VERSION},
    {"watch", no_argument, NULL, KEY_WATCH},
    /* Of kubectl. */
    {"as", required_argument, NULL, KEY_OF_KUBECTL},
    {"as-group", required_argument, NULL, KEY_OF_KUBECTL},
    {"as-uid", required_argument, NULL, KEY_OF_KUBECTL},
    {"cache-dir", required_argument, NULL, KEY_OF_KUBECTL},
    {"certificate-authority", required_argument, NULL, KEY_AUTHORITY},
    {"client-certificate", required_argument, NULL, KEY_CERTIFICATE},
    {"client-key", required_argument, NULL, KEY_KEY},
    {"cluster", required_argument, NULL, KEY_OF_KUBECTL},
    {"context", required_argument, NULL, KEY_OF_KUBECTL},
    {"insecure-skip-tls-verify", no_argument, NULL, KEY_INSECURE},
    {"kubeconfig", required_argument, NULL, KEY_OF_KUBECTL},
    {"request-timeout", required_argument, NULL, KEY_OF_KUBECTL},
    {"server", required_argument, NULL, KEY_SERVER},
    {"tls-server-name", required_argument, NULL, KEY_OF_KUBECTL},
    {"token", required_argument, NULL, KEY_TOKEN},
    {"user", required_argument, NULL, KEY_OF_KUBECTL},
    {0},
};

static void print_help(const char *program)
{
    (void)printf("Usage: %s VERB [OPTION...]\n"
                 "GPUs of a cluster, as gpu-extender sees them.\n\n",
                 program);
    for (size_t i = 0; i < N_VERBS; i++)
        (void)printf("  %-12s%-17s%s\n", VERBS[i].name, VERBS[i].object, VERBS[i].help);
    (void)printf("\nWhere to ask (without these: through kubectl and the aggregated API):\n"
                 "  --cluster-file FILE    a saved cluster, in this process\n"
                 "  --config FILE          the policy of that cluster\n"
                 "  --url URL              a gpu-extender, such as http://127.0.0.1:8888\n"
                 "  --context, --kubeconfig, --as, --token, --server ...: as kubectl's\n"
                 "\nManifests (fit, what-if):\n"
                 "  -f, --filename FILE    a file, a folder or - (standard input); repeatable\n"
                 "  -R, --recursive        also the folders in these folders\n"
                 "\nWhat to show:\n"
                 "  -n, --namespace NAME   that namespace only\n"
                 "  -A, --all-namespaces   all namespaces\n"
                 "  -l, --selector LABELS  only with these labels, as in kubectl get -l (nodes,\n"
                 "                         pending, frag, claims)\n"
                 "  --model MODEL          that GPU model only (nodes, frag)\n"
                 "  -w, --watch            go on with new decisions\n"
                 "  -o, --output FORM      table (the default), wide, json, yaml or name\n"
                 "  --no-headers           tables without headings\n"
                 "\nChanges of what-if, one after another:\n"
                 "  --add-nodes NODE=N     N more nodes like NODE\n"
                 "  --cordon NODE,...      no new pods on these nodes\n"
                 "  --drain NODE,...       the same, and their pods are evicted\n"
                 "  --remove-pods POD,...  without these pods: NAMESPACE/NAME\n"
                 "  --changes FILE         a list of changes, as POST /v1/what-if takes them\n"
                 "\nExit status:\n"
                 "  0  answered; of fit: every pod fits; of what-if: displaced pods and\n"
                 "     workloads find a place, and no pending pod loses one; of doctor: nothing\n"
                 "     fails\n"
                 "  1  of fit, what-if: not all of that; of doctor: something fails; of others:\n"
                 "     there is no such object\n"
                 "  2  wrong options; of fit, what-if: mistakes in the manifest or the changes,\n"
                 "     or parts not understood\n"
                 "  3  no answer: unreachable, no right; of fit, what-if: or the data are stale\n"
                 "\nExamples:\n"
                 "  %s nodes\n"
                 "  %s why job/train --namespace ml\n"
                 "  %s fit -f job.yaml --cluster-file cluster.yaml\n"
                 "  %s what-if --drain a100-80-1 --add-nodes h100-1=2\n",
                 program, program, program, program);
}

static int read_verb(const char *word, enum verb *ret_verb, struct err *err)
{
    struct nearest nearest = {.asked = word, .least = SIZE_MAX};
    for (size_t i = 0; i < N_VERBS; i++) {
        (void)nearest_try(&nearest, VERBS[i].name);
        if (strcmp(VERBS[i].name, word) != 0)
            continue;
        *ret_verb = (enum verb)i;
        return 0;
    }
    return err_set(err, EINVAL, "%.60s: is no verb%s%s%s", word,
                   nearest.found ? "; did you mean " : "", nearest.found ? nearest.found : "",
                   nearest.found ? "?" : "");
}

static int read_form(const char *word, enum form *ret_form, struct err *err)
{
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        if (strcmp(FORMS[i], word) != 0)
            continue;
        *ret_form = (enum form)i;
        return 0;
    }
    return err_set(err, EINVAL, "--output: is %.60s, should be table, wide, json, yaml or name",
                   word);
}

/* Returns whether the option is one of kubectl. */
static bool take_kubectl(int key, const char *value, struct arguments *arguments)
{
    switch (key) {
    case KEY_AUTHORITY:
        arguments->authority = value;
        return true;
    case KEY_CERTIFICATE:
        arguments->certificate = value;
        return true;
    case KEY_INSECURE:
        arguments->insecure = true;
        return true;
    case KEY_KEY:
        arguments->key = value;
        return true;
    case KEY_TOKEN:
        arguments->token = value;
        return true;
    default:
        return key == KEY_OF_KUBECTL || key == KEY_SERVER;
    }
}

static int take_form(const char *value, struct arguments *arguments, struct err *err)
{
    const int r = read_form(value, &arguments->form, err);
    if (r == 0 && arguments->form == FORM_NAME)
        arguments->given |= TAKES_NAMES;
    else
        arguments->given &= ~(unsigned)TAKES_NAMES;
    return r;
}

/* Why getopt rejects the option. */
static int fail_option(int key, const char *word, struct err *err)
{
    struct nearest nearest = {.asked = word + strspn(word, "-"), .least = SIZE_MAX};
    if (key == ':')
        return err_set(err, EINVAL, "needs a value");
    for (size_t i = 0; OPTIONS[i].name; i++) {
        if (OPTIONS[i].val == optopt)
            return err_set(err, EINVAL, "takes no value");
        if (optopt == 0)
            (void)nearest_try(&nearest, OPTIONS[i].name);
    }
    return err_set(err, EINVAL, "this option is unknown%s%s%s",
                   nearest.found ? "; did you mean --" : "", nearest.found ? nearest.found : "",
                   nearest.found ? "?" : "");
}

static void take_change(int key, const char *value, struct arguments *arguments)
{
    arguments->given |= TAKES_CHANGES;
    arguments->changes[arguments->n_changes++] =
        (struct asked_option){(enum change_option)(key - KEY_ADD_NODES), value};
}

void arguments_add_name(struct file_names *names, const char *name, struct arena *arena)
{
    names->items = arena_grow(arena, names->items, names->n, &names->room, sizeof *names->items);
    names->items[names->n++] = name;
}

/* NAME,... */
static void take_manifests(const char *value, struct arena *arena, struct arguments *arguments)
{
    arguments->given |= TAKES_MANIFEST;
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        arguments_add_name(&arguments->manifests, arena_strndup(arena, at, strcspn(at, ",")),
                           arena);
}

static int take(int key, const char *value, struct arena *arena, struct arguments *arguments,
                struct err *err)
{
    switch (key) {
    case KEY_ALL:
        arguments->given |= TAKES_ALL;
        return 0;
    case KEY_CLUSTER_FILE:
        arguments->cluster_file = value;
        return 0;
    case KEY_CONFIG:
        arguments->policy = value;
        return 0;
    case KEY_MANIFEST:
        take_manifests(value, arena, arguments);
        return 0;
    case KEY_MODEL:
        arguments->model = value;
        arguments->given |= TAKES_MODEL;
        return 0;
    case KEY_RECURSIVE:
        arguments->recursive = true;
        return 0;
    case KEY_SELECTOR:
        arguments->selector = value;
        arguments->given |= TAKES_SELECTOR;
        return 0;
    case KEY_NAMESPACE:
        arguments->namespace_ = value;
        arguments->given |= TAKES_NAMESPACE;
        return 0;
    case KEY_NO_HEADERS:
        arguments->no_headers = true;
        return 0;
    case KEY_URL:
        arguments->url = value;
        return 0;
    case KEY_WATCH:
        arguments->given |= TAKES_WATCH;
        return 0;
    case KEY_OUTPUT:
        return take_form(value, arguments, err);
    default:
        take_change(key, value, arguments);
        return 0;
    }
}

static int read_words(int argc, char **argv, struct arguments *arguments, struct err *err)
{
    if (optind >= argc)
        return err_set(err, EINVAL, "a verb is missing");
    int r = read_verb(argv[optind], &arguments->verb, err);
    if (r < 0)
        return r;
    const char *name = VERBS[arguments->verb].name;
    const unsigned takes = VERBS[arguments->verb].takes;
    const int n_words_max = takes & TAKES_OBJECT ? 2 : 1;
    if (argc - optind > n_words_max)
        return err_set(err, EINVAL, "%.60s: is unexpected, %s takes %s", argv[optind + n_words_max],
                       name, n_words_max == 1 ? "no argument" : "one argument");
    arguments->object = argv[optind + 1];
    if (takes & NEEDS_OBJECT && !arguments->object)
        return err_set(err, EINVAL, "%s: %s is missing", name, VERBS[arguments->verb].object);
    return 0;
}

static int check_source(const struct arguments *arguments, struct err *err)
{
    if (arguments->url && arguments->cluster_file)
        return err_set(err, EINVAL, "--url and --cluster-file: only one of them may be given");
    if (arguments->url && strpbrk(arguments->url, "?#"))
        return err_set(err, EINVAL,
                       "--url: has a query or a fragment, should be an address such as "
                       "http://127.0.0.1:8888");
    if (arguments->policy && !arguments->cluster_file)
        return err_set(err, EINVAL, "--config: needs --cluster-file, to which the policy applies");
    return 0;
}

const char *arguments_change_name(enum change_option option)
{
    return CHANGES[option];
}

bool arguments_have_namespaces(enum verb verb)
{
    return VERBS[verb].takes & TAKES_NAMESPACE;
}

/* "--model: is not for quota, only for nodes, frag" */
static int refuse(const char *option, unsigned bit, enum verb verb, struct err *err)
{
    struct buf verbs;
    buf_init(&verbs, ERR_TEXT_MAX);
    for (size_t i = 0; i < N_VERBS; i++) {
        if (VERBS[i].takes & bit)
            buf_printf(&verbs, "%s%s", verbs.len > 0 ? ", " : "", VERBS[i].name);
    }
    (void)err_set(err, EINVAL, "%s: is not for %s, only for %s", option, VERBS[verb].name,
                  buf_text(&verbs));
    buf_fini(&verbs);
    return -EINVAL;
}

static int check_input(const struct arguments *arguments, struct err *err)
{
    const struct file_names *manifests = &arguments->manifests;
    size_t n = 0;
    for (size_t i = 0; i < manifests->n; i++)
        n += strcmp(manifests->items[i], "-") == 0;
    if (arguments->recursive && manifests->n == 0)
        return err_set(err, EINVAL, "--recursive: needs -f with a folder");
    if (arguments->verb == VERB_FIT && manifests->n == 0)
        return err_set(err, EINVAL, "fit: -f FILE is missing: a manifest, or - for standard input");
    if (arguments->verb == VERB_WHAT_IF && manifests->n == 0 && arguments->n_changes == 0)
        return err_set(err, EINVAL,
                       "there is no change: give --add-nodes, --cordon, --drain, --remove-pods or "
                       "--changes, or a manifest with -f");
    for (size_t i = 0; i < arguments->n_changes; i++)
        n += arguments->changes[i].option == OPTION_CHANGES &&
             strcmp(arguments->changes[i].value, "-") == 0;
    if (n > 1)
        return err_set(err, EINVAL, "-: standard input can be read once only");
    return 0;
}

/* Options that the verb does not take. */
static int check_verb(const struct arguments *arguments, struct err *err)
{
    const enum verb verb = arguments->verb;
    const unsigned both = IN_NAMESPACES;
    if (verb == VERB_FIT && arguments->given & both)
        return err_set(err, EINVAL, "%s: is not for fit, which takes namespaces from the manifest",
                       arguments->given & TAKES_ALL ? "--all-namespaces" : "--namespace");
    for (size_t i = 0; i < sizeof LIMITED / sizeof *LIMITED; i++) {
        if (arguments->given & LIMITED[i].bit && !(VERBS[verb].takes & LIMITED[i].bit))
            return refuse(LIMITED[i].option, LIMITED[i].bit, verb, err);
    }
    if (arguments->n_changes > 0 && !(VERBS[verb].takes & TAKES_CHANGES))
        return refuse(CHANGES[arguments->changes[0].option], TAKES_CHANGES, verb, err);
    if (verb == VERB_DECISIONS && arguments->cluster_file)
        return err_set(err, EINVAL,
                       "--cluster-file: is not for decisions: a saved cluster has none");
    if (arguments->selector && arguments->object)
        return err_set(err, EINVAL, "--selector and NODE: only one of them may be given");
    if ((arguments->given & both) == both)
        return err_set(err, EINVAL, "--namespace and -A: only one of them may be given");
    return check_input(arguments, err);
}

/* Of "-zA" getopt knows the letter, of an unknown long option only the word. A value after it may
 * be a secret. */
static void prefix_option(const char *word, struct err *err)
{
    const size_t len = strcspn(word, "=");
    if (optopt != 0 && optopt < KEY_OF_KUBECTL)
        err_prefix(err, "-%c: ", optopt);
    else
        err_prefix(err, "%.*s: ", len < 60 ? (int)len : 60, word);
}

static void keep_of_kubectl(int key, int i, struct arena *arena, struct arguments *arguments)
{
    const char *name = key == KEY_SERVER ? "server" : OPTIONS[i].name;
    arguments->of_kubectl[arguments->n_of_kubectl++] =
        optarg ? arena_printf(arena, "--%s=%s", name, optarg) : arena_printf(arena, "--%s", name);
}

/* With room for as many options as there are words. */
static struct arguments begin(int argc, struct arena *arena)
{
    const size_t n = (size_t)argc + 2;
    return (struct arguments){.of_kubectl = ARENA_ARRAY(arena, const char *, n),
                              .changes = ARENA_ARRAY(arena, struct asked_option, n)};
}

void arguments_parse_unfinished(int argc, char **argv, struct arena *arena,
                                struct arguments *ret_arguments, size_t *ret_n_words)
{
    struct arguments arguments = begin(argc, arena);
    struct err err;
    int key = 0;
    int i = 0;
    opterr = 0;
    while ((key = getopt_long(argc, argv, LETTERS, OPTIONS, &i)) != -1) {
        if (take_kubectl(key, optarg, &arguments))
            keep_of_kubectl(key, i, arena, &arguments);
        else if (key != '?' && key != ':')
            (void)take(key, optarg, arena, &arguments, &err);
    }
    arguments.of_kubectl[arguments.n_of_kubectl++] = "--request-timeout=5s";
    *ret_n_words = (size_t)(argc - optind);
    if (*ret_n_words > 0 && read_verb(argv[optind], &arguments.verb, &err) < 0)
        *ret_n_words = 2; /* nothing is known about the words after it */
    *ret_arguments = arguments;
}

const char *arguments_verb_name(size_t i, const char **ret_help)
{
    if (i >= N_VERBS)
        return NULL;
    *ret_help = VERBS[i].help;
    return VERBS[i].name;
}

const char *arguments_option_name(size_t i)
{
    return i < sizeof OPTIONS / sizeof *OPTIONS ? OPTIONS[i].name : NULL;
}

const char *arguments_form_name(size_t i)
{
    return i < sizeof FORMS / sizeof *FORMS ? FORMS[i] : NULL;
}

const char *arguments_awaiting(const char *word)
{
    const bool is_long = strncmp(word, "--", 2) == 0;
    for (size_t i = 0; word[0] == '-' && OPTIONS[i].name; i++) {
        const bool is_same = is_long ? strcmp(word + 2, OPTIONS[i].name) == 0
                                     : word[1] == OPTIONS[i].val && word[2] == '\0';
        if (is_same && OPTIONS[i].has_arg == required_argument)
            return OPTIONS[i].name;
    }
    return NULL;
}

int arguments_parse(int argc, char **argv, const char *program, struct arena *arena,
                    struct arguments *ret_arguments, struct err *err)
{
    struct arguments arguments = begin(argc, arena);
    int key = 0;
    int i = 0;
    opterr = 0;
    while ((key = getopt_long(argc, argv, LETTERS, OPTIONS, &i)) != -1) {
        ret_arguments->is_answered = key == KEY_HELP || key == KEY_VERSION;
        if (key == KEY_HELP)
            print_help(program);
        if (key == KEY_VERSION)
            (void)printf("kubectl-gpu %s\n", GPU_EXTENDER_VERSION);
        if (ret_arguments->is_answered)
            return 0;
        if (take_kubectl(key, optarg, &arguments)) {
            keep_of_kubectl(key, i, arena, &arguments);
            continue;
        }
        int r = key == '?' || key == ':' ? fail_option(key, argv[optind - 1], err)
                                         : take(key, optarg, arena, &arguments, err);
        if (r < 0) {
            if (key == '?' || key == ':')
                prefix_option(argv[optind - 1], err);
            return r;
        }
    }
    int r = read_words(argc, argv, &arguments, err);
    if (r == 0)
        r = check_source(&arguments, err);
    if (r == 0)
        r = check_verb(&arguments, err);
    if (r == 0)
        *ret_arguments = arguments;
    return r;
}
