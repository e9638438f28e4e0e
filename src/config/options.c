/* options: the command line, parsed with glibc's argp. argp neither prints nor exits here: errors
 * return to the caller. See include/config/options.h. */
#include "config/options.h"

#include "base/nearest.h"
#include "config/syntax.h"

#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ACCOUNT_BYTES_MAX 320 /* two names of Kubernetes */
#define ACCOUNT_BYTES "abcdefghijklmnopqrstuvwxyz0123456789.-"

enum option_key {
    KEY_HELP = 'h',
    KEY_CONFIG = 256,
    KEY_CLUSTER_FILE,
    KEY_KUBECONFIG,
    KEY_CONTEXT,
    KEY_LISTEN,
    KEY_CHECK,
    KEY_WITHOUT_FILES,
    KEY_PRINT_POLICY,
    KEY_DOCTOR,
    KEY_SCHEDULER_CONFIG,
    KEY_ACCOUNT,
    KEY_OUTPUT,
    KEY_LOG_LEVEL,
    KEY_LOG_FORMAT,
    KEY_VERSION
};

#define NEXT "\n                           " /* the next line of the same description */

static const struct argp_option OPTIONS[] = {
    {"config", KEY_CONFIG, "FILE", 0, "policy file (default: the built-in values)", 0},
    {"cluster-file", KEY_CLUSTER_FILE, "FILE", 0,
     "saved cluster, which SIGHUP reloads: the output of" NEXT
     "'kubectl get nodes,pods -A -o yaml', or of -o json",
     0},
    {"kubeconfig", KEY_KUBECONFIG, "FILE", 0,
     "kubeconfig of the API server (default without" NEXT
     "--cluster-file: $KUBECONFIG, the pod's" NEXT "ServiceAccount, ~/.kube/config)",
     0},
    {"context", KEY_CONTEXT, "NAME", 0, "context of the kubeconfig (default: the current one)", 0},
    {"listen", KEY_LISTEN, "ADDR:PORT", 0,
     "listen only on this address, instead of listen of" NEXT
     "the policy; :PORT and localhost:PORT are" NEXT "127.0.0.1:PORT",
     0},
    {"check", KEY_CHECK, NULL, 0,
     "check the policy, and the cluster file or the" NEXT
     "kubeconfig; print what was checked, then exit",
     0},
    {"without-files", KEY_WITHOUT_FILES, NULL, 0,
     "with --check: do not read the files of tls, which" NEXT "may be on another machine", 0},
    {"print-policy", KEY_PRINT_POLICY, NULL, 0, "print the policy in force, as a policy file", 0},
    {"doctor", KEY_DOCTOR, NULL, 0,
     "check kube-scheduler's configuration and the" NEXT "cluster against the policy, then exit",
     0},
    {"scheduler-config", KEY_SCHEDULER_CONFIG, "FILE", 0,
     "with --doctor: the file of kube-scheduler's --config", 0},
    {"account", KEY_ACCOUNT, "ACCOUNT", 0,
     "with --doctor: NAMESPACE/NAME of the" NEXT
     "ServiceAccount whose rights to check (default:" NEXT "that of the manifests)",
     0},
    {"output", KEY_OUTPUT, "FORMAT", 0, "with --doctor: text (the default) or json", 0},
    {"log-level", KEY_LOG_LEVEL, "LEVEL", 0, "debug, info (the default), warn or error", 0},
    {"log-format", KEY_LOG_FORMAT, "FORMAT", 0, "key-value (the default) or json", 0},
    {"version", KEY_VERSION, NULL, 0, "print the version and the commit", 0},
    {"help", KEY_HELP, NULL, 0, "print this (-h does so too)", 0},
    {0},
};

/* Result and state of a parse. */
struct parse {
    struct options options;
    const char *commit;
    struct err *err;
    bool done;      /* --help or --version: nothing else matters */
    bool has_error; /* err is set */
    bool has_output, has_log_level;
};

static void print_help(void)
{
    (void)printf("Usage: gpu-extender [OPTION...]\n"
                 "A kube-scheduler extender that places pods on GPU nodes by model and count.\n\n");
    for (const struct argp_option *option = OPTIONS; option->name; option++) {
        char left[40];
        (void)snprintf(left, sizeof left, "--%s%s%s", option->name, option->arg ? " " : "",
                       option->arg ? option->arg : "");
        (void)printf("  %-24s %s\n", left, option->doc);
    }
    (void)printf("\nExit status:\n"
                 "  0  success\n"
                 "  1  failure at run time, such as a port in use; a check of --doctor fails\n"
                 "  2  invalid options, policy, cluster file or kubeconfig; nothing was started\n"
                 "\nExamples:\n"
                 "  gpu-extender --config policy.yaml --cluster-file cluster.yaml\n"
                 "  gpu-extender --config policy.yaml --kubeconfig ~/.kube/config\n"
                 "  gpu-extender --config policy.yaml --cluster-file cluster.yaml --check\n"
                 "  gpu-extender --doctor --scheduler-config kube-scheduler-config.yaml\n"
                 "  gpu-extender --print-policy > policy.yaml\n");
}

static error_t refuse(struct parse *parse, const char *option, const char *value, const char *right)
{
    (void)err_set(parse->err, EINVAL, "%s: is \"%s\", should be %s; try --help", option, value,
                  right);
    parse->has_error = true;
    return EINVAL;
}

static error_t refuse_word(struct parse *parse, const char *word)
{
    (void)err_set(parse->err, EINVAL,
                  "%s: is not an option (give files with --config or --cluster-file); try --help",
                  word);
    parse->has_error = true;
    return EINVAL;
}

static error_t set_file(struct parse *parse, const char *option, const char *value,
                        const char **ret_file)
{
    if (*value == '\0')
        return refuse(parse, option, value, "the name of a file");
    *ret_file = value;
    return 0;
}

static error_t set_context(struct parse *parse, const char *value)
{
    if (*value == '\0')
        return refuse(parse, "--context", value, "the name of a context of the kubeconfig");
    parse->options.context = value;
    return 0;
}

static error_t set_switch(struct parse *parse, int key)
{
    struct options *options = &parse->options;
    if (key == KEY_DOCTOR)
        options->doctor = true;
    else if (key == KEY_WITHOUT_FILES)
        options->without_files = true;
    else
        *(key == KEY_CHECK ? &options->check : &options->print_policy) = true;
    return 0;
}

static error_t set_account(struct parse *parse, const char *value)
{
    const char *slash = strchr(value, '/');
    const size_t len = strlen(value);
    const bool is_right = slash && slash != value && slash[1] && !strchr(slash + 1, '/') &&
                          strspn(value, ACCOUNT_BYTES "/") == len && len <= ACCOUNT_BYTES_MAX;
    if (!is_right)
        return refuse(parse, "--account", value, "NAMESPACE/NAME of a ServiceAccount");
    parse->options.account = value;
    return 0;
}

static error_t set_output(struct parse *parse, const char *value)
{
    if (strcmp(value, "text") != 0 && strcmp(value, "json") != 0)
        return refuse(parse, "--output", value, "text or json");
    parse->options.output = *value == 'j' ? OUTPUT_JSON : OUTPUT_TEXT;
    parse->has_output = true;
    return 0;
}

/* :PORT and localhost:PORT. For all addresses, the caller must say so. */
static bool is_short_address(const char *value)
{
    const size_t len = strcspn(value, ":");
    return value[len] == ':' &&
           (len == 0 || (len == strlen("localhost") && strncmp(value, "localhost", len) == 0));
}

static error_t set_listen(struct parse *parse, const char *value)
{
    char *full = parse->options.listen_on;
    const char *given = value;
    full[0] = '\0';
    if (is_short_address(value)) {
        (void)snprintf(full, sizeof parse->options.listen_on, "127.0.0.1%s", strchr(value, ':'));
        value = full;
    }
    const char *right = syntax_address(value);
    if (right)
        return refuse(parse, "--listen", given, right);
    parse->options.listen = value;
    return 0;
}

static error_t set_log_level(struct parse *parse, const char *value)
{
    if (log_level_from_name(value, &parse->options.log_level) < 0)
        return refuse(parse, "--log-level", value, "debug, info, warn or error");
    parse->has_log_level = true;
    return 0;
}

static error_t set_log_format(struct parse *parse, const char *value)
{
    if (strcmp(value, "key-value") != 0 && strcmp(value, "json") != 0)
        return refuse(parse, "--log-format", value, "key-value or json");
    parse->options.log_format = *value == 'j' ? LOG_JSON : LOG_KEY_VALUE;
    return 0;
}

/* ECANCELED ends the parse: the rest of the line does not matter. */
static error_t finish(struct parse *parse)
{
    parse->done = true;
    return ECANCELED;
}

/* The option with this name, or the only one with this prefix. len: bytes of the name. */
static const struct argp_option *find_option(const char *name, size_t len, size_t *ret_n_found)
{
    const struct argp_option *found = NULL;
    size_t n = 0;
    for (const struct argp_option *option = OPTIONS; option->name; option++) {
        bool is_it = strncmp(option->name, name, len) == 0;
        if (is_it && option->name[len] == '\0') {
            *ret_n_found = 1;
            return option;
        }
        found = is_it ? option : found;
        n += is_it;
    }
    *ret_n_found = n;
    return found;
}

static void set_unknown(struct parse *parse, const char *word)
{
    const char *name = word + strspn(word, "-");
    struct nearest nearest = {.asked = name, .least = SIZE_MAX};
    for (const struct argp_option *option = OPTIONS; option->name; option++)
        (void)nearest_try(&nearest, option->name);
    if (nearest.found)
        (void)err_set(parse->err, EINVAL, "unknown option %s; did you mean --%s? try --help", word,
                      nearest.found);
    else
        (void)err_set(parse->err, EINVAL, "unknown option %s; try --help", word);
}

/* Sets err if the argument is at fault. Returns whether it is. */
static bool set_fault(struct parse *parse, const char *word)
{
    if (strncmp(word, "--", 2) != 0)
        return false;
    size_t len = strcspn(word + 2, "=");
    bool has_value = word[2 + len] == '=';
    size_t n_found = 0;
    const struct argp_option *option = find_option(word + 2, len, &n_found);
    if (n_found == 0)
        set_unknown(parse, word);
    else if (n_found > 1)
        (void)err_set(parse->err, EINVAL, "%s: is ambiguous, %zu options begin with it; try --help",
                      word, n_found);
    else if (option->arg && !has_value)
        (void)err_set(parse->err, EINVAL, "--%s: needs %s; try --help", option->name, option->arg);
    else if (!option->arg && has_value)
        (void)err_set(parse->err, EINVAL, "--%s: takes no value; try --help", option->name);
    else
        return false;
    return true;
}

/* argp does not report where it stopped. It is the argument before the next one, or, in a bundle of
 * short options such as -xyz, the next one itself. */
static void set_error(struct parse *parse, const struct argp_state *state)
{
    const char *last = state->argv[state->next - 1];
    if (set_fault(parse, last))
        return;
    bool is_short = last[0] == '-' && last[1] != '-' && strlen(last) == 2;
    set_unknown(parse, is_short || state->next >= state->argc ? last : state->argv[state->next]);
}

static error_t on_no_option(int key, const char *value, const struct argp_state *state)
{
    struct parse *parse = state->input;
    if (key == ARGP_KEY_ARG)
        return refuse_word(parse, value);
    if (key != ARGP_KEY_ERROR)
        return ARGP_ERR_UNKNOWN;
    if (!parse->has_error && !parse->done)
        set_error(parse, state);
    return 0;
}

static error_t on_doctor_key(int key, const char *value, const struct argp_state *state)
{
    struct parse *parse = state->input;
    if (key == KEY_SCHEDULER_CONFIG)
        return set_file(parse, "--scheduler-config", value, &parse->options.scheduler_config);
    if (key == KEY_ACCOUNT)
        return set_account(parse, value);
    if (key == KEY_OUTPUT)
        return set_output(parse, value);
    return on_no_option(key, value, state);
}

static error_t on_key(int key, char *value, struct argp_state *state)
{
    struct parse *parse = state->input;
    switch (key) {
    case KEY_CONFIG:
        return set_file(parse, "--config", value, &parse->options.config_file);
    case KEY_CLUSTER_FILE:
        return set_file(parse, "--cluster-file", value, &parse->options.cluster_file);
    case KEY_KUBECONFIG:
        return set_file(parse, "--kubeconfig", value, &parse->options.kubeconfig);
    case KEY_CONTEXT:
        return set_context(parse, value);
    case KEY_LISTEN:
        return set_listen(parse, value);
    case KEY_CHECK:
    case KEY_WITHOUT_FILES:
    case KEY_PRINT_POLICY:
    case KEY_DOCTOR:
        return set_switch(parse, key);
    case KEY_LOG_LEVEL:
        return set_log_level(parse, value);
    case KEY_LOG_FORMAT:
        return set_log_format(parse, value);
    case KEY_HELP:
        print_help();
        return finish(parse);
    case KEY_VERSION:
        (void)printf("gpu-extender %s (commit %s)\n", GPU_EXTENDER_VERSION, parse->commit);
        return finish(parse);
    default:
        return on_doctor_key(key, value, state);
    }
}

/* A saved cluster has no API server. */
static int check_source(const struct options *options, struct err *err)
{
    const char *other = options->kubeconfig ? "--kubeconfig" : "--context";
    if (options->cluster_file && (options->kubeconfig || options->context))
        return err_set(err, EINVAL,
                       "%s and --cluster-file exclude each other: give either a live cluster or a "
                       "saved one; try --help",
                       other);
    return 0;
}

/* The doctor's options do nothing without it. */
static int check_doctor(const struct parse *parse, struct err *err)
{
    const struct options *options = &parse->options;
    const char *own = NULL;
    if (options->scheduler_config)
        own = "--scheduler-config";
    else if (options->account)
        own = "--account";
    else if (parse->has_output)
        own = "--output";
    if (!options->doctor && own)
        return err_set(err, EINVAL, "%s: is only for --doctor; try --help", own);
    if (options->doctor && (options->check || options->print_policy))
        return err_set(err, EINVAL,
                       "--doctor and %s exclude each other: give one of them; try --help",
                       options->check ? "--check" : "--print-policy");
    if (options->without_files && !options->check)
        return err_set(err, EINVAL, "--without-files: needs --check; try --help");
    return 0;
}

int options_parse(int argc, char **argv, const char *commit, struct options *ret_options,
                  bool *ret_done, struct err *err)
{
    static const struct argp ARGP = {.options = OPTIONS, .parser = on_key};
    struct parse parse = {.options = {.log_level = LOG_INFO, .log_format = LOG_KEY_VALUE},
                          .commit = commit,
                          .err = err};
    error_t error = argp_parse(&ARGP, argc, argv, ARGP_SILENT | ARGP_IN_ORDER, NULL, &parse);
    if (error && !parse.done)
        return -EINVAL;
    int r = parse.done ? 0 : check_source(&parse.options, err);
    if (r == 0 && !parse.done)
        r = check_doctor(&parse, err);
    if (r < 0)
        return r;
    /* The findings say what a log line would. */
    if (parse.options.doctor && !parse.has_log_level)
        parse.options.log_level = LOG_ERROR;
    *ret_options = parse.options;
    if (ret_options->listen_on[0])
        ret_options->listen = ret_options->listen_on;
    *ret_done = parse.done;
    return 0;
}
