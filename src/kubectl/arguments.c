/* arguments: see arguments.h. */
#include "arguments.h"
#include "base/buf.h"
#include "base/nearest.h"

#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define N_LETTERS_MAX (2 * N_OPTIONS + 2)

static const char *const FORMS[] = {[FORM_TABLE] = "table",
                                    [FORM_WIDE] = "wide",
                                    [FORM_JSON] = "json",
                                    [FORM_YAML] = "yaml",
                                    [FORM_NAME] = "name"};

/* OPTION_TABLE as getopt reads it, in the same order. */
struct getopt_form {
    struct option options[N_OPTIONS + 1];
    char letters[N_LETTERS_MAX];
};

/* With the first colon getopt tells a missing value from an unknown option. */
static struct getopt_form getopt_form(void)
{
    struct getopt_form form = {.letters = ":"};
    size_t n = 1;
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option_facts *facts = &OPTION_TABLE[i];
        form.options[i] = (struct option){
            facts->name, facts->value ? required_argument : optional_argument, NULL, facts->key};
        if (facts->key >= KEY_OF_KUBECTL)
            continue;
        form.letters[n++] = (char)facts->key;
        if (facts->value)
            form.letters[n++] = ':';
    }
    return form;
}

static const struct option_facts *option_of(int key)
{
    size_t i = 0;
    while (OPTION_TABLE[i].key != key)
        i++;
    return &OPTION_TABLE[i];
}

/* "; did you mean --drain?"; prefix: "--" */
static int fail_near(const struct nearest *nearest, const char *what, const char *prefix,
                     struct err *err)
{
    return err_set(err, EINVAL, "%s%s%s%s%s", what, nearest->found ? "; did you mean " : "",
                   nearest->found ? prefix : "", nearest->found ? nearest->found : "",
                   nearest->found ? "?" : "");
}

/* Words that users may try for a verb: those of the API, of kubectl and of other tools. */
static const struct {
    const char *word;
    enum verb verb;
} MEANT[] = {
    {"inventory", VERB_NODES},  {"gpus", VERB_NODES},
    {"dry-run", VERB_FIT},      {"check", VERB_FIT},
    {"schedule", VERB_FIT},     {"apply", VERB_FIT},
    {"queue", VERB_PENDING},    {"waiting", VERB_PENDING},
    {"limits", VERB_QUOTA},     {"gangs", VERB_GROUPS},
    {"podgroups", VERB_GROUPS}, {"explain", VERB_WHY},
    {"describe", VERB_WHY},     {"holders", VERB_PODS},
    {"usage", VERB_PODS},       {"fragmentation", VERB_FRAG},
    {"stranded", VERB_FRAG},    {"history", VERB_DECISIONS},
    {"events", VERB_DECISIONS}, {"health", VERB_DOCTOR},
    {"status", VERB_DOCTOR},    {"simulate", VERB_WHAT_IF},
    {"drain", VERB_WHAT_IF},    {"cordon", VERB_WHAT_IF},
    {"page", VERB_UI},          {"dashboard", VERB_UI},
};

static int read_verb(const char *word, enum verb *ret_verb, struct err *err)
{
    struct nearest nearest = {.asked = word, .least = SIZE_MAX};
    for (size_t i = 0; i < N_VERBS; i++) {
        (void)nearest_try(&nearest, VERB_TABLE[i].name);
        if (strcmp(VERB_TABLE[i].name, word) != 0)
            continue;
        *ret_verb = (enum verb)i;
        return 0;
    }
    for (size_t i = 0; i < sizeof MEANT / sizeof *MEANT; i++) {
        if (nearest_try(&nearest, MEANT[i].word))
            nearest.found = VERB_TABLE[MEANT[i].verb].name;
    }
    (void)fail_near(&nearest, "is no verb", "", err);
    err_prefix(err, "%.60s: ", word);
    return -EINVAL;
}

static int read_form(const char *word, enum form *ret_form, struct err *err)
{
    struct nearest nearest = {.asked = word, .least = SIZE_MAX};
    for (size_t i = 0; i < sizeof FORMS / sizeof *FORMS; i++) {
        (void)nearest_try(&nearest, FORMS[i]);
        if (strcmp(FORMS[i], word) != 0)
            continue;
        *ret_form = (enum form)i;
        return 0;
    }
    (void)fail_near(&nearest, "should be table, wide, json, yaml or name", "", err);
    err_prefix(err, "--output: is %.60s, ", word);
    return -EINVAL;
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
    case KEY_TLS_SERVER_NAME:
        arguments->tls_server_name = value;
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
    for (size_t i = 0; i < N_OPTIONS; i++) {
        if (OPTION_TABLE[i].key == optopt)
            return err_set(err, EINVAL, "takes no value");
        if (optopt == 0)
            (void)nearest_try(&nearest, OPTION_TABLE[i].name);
    }
    return fail_near(&nearest, "this option is unknown", "--", err);
}

static void take_change(int key, const char *value, struct arguments *arguments)
{
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
    for (const char *at = value; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
        arguments_add_name(&arguments->manifests, arena_strndup(arena, at, strcspn(at, ",")),
                           arena);
}

static int take(int key, const char *value, struct arena *arena, struct arguments *arguments,
                struct err *err)
{
    const struct option_facts *facts = option_of(key);
    arguments->given |= facts->takes;
    arguments->options[arguments->n_options++] = facts;
    switch (key) {
    case KEY_ALL:
    case KEY_WATCH:
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
        return 0;
    case KEY_RECURSIVE:
        arguments->recursive = true;
        return 0;
    case KEY_SELECTOR:
        arguments->selector = value;
        return 0;
    case KEY_NAMESPACE:
        arguments->namespace_ = value;
        return 0;
    case KEY_NO_HEADERS:
        arguments->no_headers = true;
        return 0;
    case KEY_URL:
        arguments->url = value;
        return 0;
    case KEY_HELP:
        arguments->wants_help = true;
        return 0;
    case KEY_VERSION:
        arguments->wants_version = true;
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
    const char *name = VERB_TABLE[arguments->verb].name;
    const unsigned takes = VERB_TABLE[arguments->verb].takes;
    const int n_words_max = takes & TAKES_OBJECT ? 2 : 1;
    if (argc - optind > n_words_max)
        return err_set(err, EINVAL, "%.60s: is unexpected, %s takes %s%s",
                       argv[optind + n_words_max], name,
                       n_words_max == 1 ? "no argument" : "one argument",
                       takes & TAKES_MANIFEST ? "; each file needs its own -f" : "");
    arguments->object = argv[optind + 1];
    if (takes & NEEDS_OBJECT && !arguments->object)
        return err_set(err, EINVAL, "%s: %s is missing", name, VERB_TABLE[arguments->verb].object);
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

/* "--model: is not for quota, only for nodes, frag" */
static int refuse(const char *option, unsigned bit, enum verb verb, struct err *err)
{
    struct buf verbs;
    buf_init(&verbs, ERR_TEXT_MAX);
    for (size_t i = 0; i < N_VERBS; i++) {
        if (VERB_TABLE[i].takes & bit)
            buf_printf(&verbs, "%s%s", verbs.len > 0 ? ", " : "", VERB_TABLE[i].name);
    }
    (void)err_set(err, EINVAL, "--%s: is not for %s, only for %s", option, VERB_TABLE[verb].name,
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
        return err_set(
            err, EINVAL,
            "there is no change: give --add-nodes, --cordon, --drain, --lift, --remove-pods or "
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
    const unsigned both = TAKES_NAMESPACE | TAKES_ALL;
    if (verb == VERB_FIT && arguments->given & both)
        return err_set(err, EINVAL, "%s: is not for fit, which takes namespaces from the manifest",
                       arguments->given & TAKES_ALL ? "--all-namespaces" : "--namespace");
    for (size_t i = 0; i < arguments->n_options; i++) {
        const struct option_facts *facts = arguments->options[i];
        if (facts->takes && !(VERB_TABLE[verb].takes & facts->takes))
            return refuse(facts->name, facts->takes, verb, err);
    }
    if (arguments->given & TAKES_NAMES && !(VERB_TABLE[verb].takes & TAKES_NAMES))
        return refuse("output=name", TAKES_NAMES, verb, err);
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
    const char *name = key == KEY_SERVER ? "server" : OPTION_TABLE[i].name;
    arguments->of_kubectl[arguments->n_of_kubectl++] =
        optarg ? arena_printf(arena, "--%s=%s", name, optarg) : arena_printf(arena, "--%s", name);
}

/* With room for as many options as there are words. */
static struct arguments begin(int argc, struct arena *arena)
{
    const size_t n = (size_t)argc + 2;
    return (struct arguments){.of_kubectl = ARENA_ARRAY(arena, const char *, n),
                              .options = ARENA_ARRAY(arena, const struct option_facts *, n),
                              .changes = ARENA_ARRAY(arena, struct asked_option, n)};
}

void arguments_parse_unfinished(int argc, char **argv, struct arena *arena,
                                struct arguments *ret_arguments, size_t *ret_n_words)
{
    const struct getopt_form form = getopt_form();
    struct arguments arguments = begin(argc, arena);
    struct err err;
    int key = 0;
    int i = 0;
    opterr = 0;
    while ((key = getopt_long(argc, argv, form.letters, form.options, &i)) != -1) {
        if (take_kubectl(key, optarg, &arguments))
            keep_of_kubectl(key, i, arena, &arguments);
        else if (key != '?' && key != ':')
            (void)take(key, optarg, arena, &arguments, &err);
    }
    arguments.of_kubectl[arguments.n_of_kubectl++] = "--request-timeout=5s";
    *ret_n_words = (size_t)(argc - optind);
    if (*ret_n_words > 0 && read_verb(argv[optind], &arguments.verb, &err) < 0) {
        arguments.verb = VERB_HELP;
        *ret_n_words = 2; /* nothing is known about the words after it */
    }
    *ret_arguments = arguments;
}

const char *arguments_form_name(size_t i)
{
    return i < sizeof FORMS / sizeof *FORMS ? FORMS[i] : NULL;
}

const char *arguments_awaiting(const char *word)
{
    const bool is_long = strncmp(word, "--", 2) == 0;
    for (size_t i = 0; word[0] == '-' && i < N_OPTIONS; i++) {
        const struct option_facts *facts = &OPTION_TABLE[i];
        const bool is_same =
            is_long ? strcmp(word + 2, facts->name) == 0 : word[1] == facts->key && word[2] == '\0';
        if (is_same && facts->value)
            return facts->name;
    }
    return NULL;
}

/* word: a verb; NULL: none. */
static int answer_help(const char *word, const char *program, struct err *err)
{
    enum verb verb = VERB_HELP;
    const int r = word ? read_verb(word, &verb, err) : 0;
    if (r == 0)
        verb_table_print(program, word ? &VERB_TABLE[verb] : NULL);
    return r;
}

/* "-o=json", as kubectl has it: getopt leaves the "=". */
static void skip_equals(const char *word)
{
    if (optarg && optarg != word && word[1] != '-' && optarg[0] == '=')
        optarg++;
}

/* "--watch=false" is as if it weren't there. Returns whether the option was read. */
static bool read_switch(int key, const char *word, int *ret_r, struct err *err)
{
    if (key == '?' || key == ':' || !optarg || option_of(key)->value)
        return false;
    *ret_r = 0;
    if (strcmp(optarg, "true") == 0)
        optarg = NULL;
    else if (strcmp(optarg, "false") != 0) {
        *ret_r = err_set(err, EINVAL, "takes no value but true or false");
        err_prefix(err, "%.*s: ", (int)strcspn(word, "="), word);
    }
    return optarg != NULL;
}

static int read_options(int argc, char **argv, struct arena *arena, struct arguments *arguments,
                        struct err *err)
{
    const struct getopt_form form = getopt_form();
    int key = 0;
    int i = 0;
    opterr = 0;
    while ((key = getopt_long(argc, argv, form.letters, form.options, &i)) != -1) {
        int r = 0;
        skip_equals(argv[optind - 1]);
        if (read_switch(key, argv[optind - 1], &r, err)) {
            if (r < 0)
                return r;
            continue;
        }
        if (take_kubectl(key, optarg, arguments)) {
            keep_of_kubectl(key, i, arena, arguments);
            continue;
        }
        /* "--drain --url URL": getopt would take the next option for the value. */
        const bool has_none = optarg && optarg == argv[optind - 1] && strncmp(optarg, "--", 2) == 0;
        const char *option = argv[optind - 1 - (has_none ? 1 : 0)];
        const bool is_bad = key == '?' || key == ':' || has_none;
        r = is_bad ? fail_option(has_none ? ':' : key, option, err)
                   : take(key, optarg, arena, arguments, err);
        if (is_bad)
            prefix_option(option, err);
        if (r < 0)
            return r;
    }
    return 0;
}

int arguments_parse(int argc, char **argv, const char *program, struct arena *arena,
                    struct arguments *ret_arguments, struct err *err)
{
    struct arguments arguments = begin(argc, arena);
    int r = read_options(argc, argv, arena, &arguments, err);
    if (r == 0 && arguments.wants_version) {
        (void)printf("kubectl-gpu %s\n", GPU_EXTENDER_VERSION);
        ret_arguments->is_answered = true;
        return 0;
    }
    if (r == 0 && !arguments.wants_help)
        r = read_words(argc, argv, &arguments, err);
    if (r == 0 && (arguments.wants_help || arguments.verb == VERB_HELP)) {
        ret_arguments->is_answered = true;
        return answer_help(arguments.wants_help ? argv[optind] : arguments.object, program, err);
    }
    if (r == 0)
        r = check_source(&arguments, err);
    if (r == 0)
        r = check_verb(&arguments, err);
    if (r == 0)
        *ret_arguments = arguments;
    return r;
}
