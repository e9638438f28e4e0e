/* options: results and errors of the command line; the parser neither exits nor prints by
 * itself. */
#include "config/options.h"
#include "unit.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_MAX 10

struct outcome {
    int r;
    bool done;
    struct options options;
    struct err err;
    char *argv[WORDS_MAX + 2];
};

/* NULL ends words. */
static struct outcome parse(const char *const *words)
{
    static char name[] = "gpu-extender";
    static char copies[WORDS_MAX][64];
    struct outcome outcome = {.argv = {name}};
    int argc = 1;
    for (; *words; words++, argc++) {
        assert_true(argc <= WORDS_MAX && strlen(*words) < sizeof copies[0]);
        outcome.argv[argc] = memcpy(copies[argc - 1], *words, strlen(*words) + 1);
    }
    outcome.r =
        options_parse(argc, outcome.argv, "abc", &outcome.options, &outcome.done, &outcome.err);
    return outcome;
}

#define PARSE(...) parse((const char *const[]){__VA_ARGS__, NULL})

/* Captures standard output and standard error while parsing. */
static void parse_and_capture(const char *const *words, char *text, size_t size,
                              struct outcome *ret_outcome)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    (void)fflush(stdout);
    int out = dup(STDOUT_FILENO);
    int error = dup(STDERR_FILENO);
    assert_true(dup2(fileno(file), STDOUT_FILENO) >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    *ret_outcome = parse(words);
    (void)fflush(stdout);
    assert_true(dup2(out, STDOUT_FILENO) >= 0 && dup2(error, STDERR_FILENO) >= 0);
    assert_int_equal(close(out) + close(error), 0);
    rewind(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

static void test_no_arguments_leave_the_defaults(void **state)
{
    (void)state;
    struct outcome outcome = parse((const char *const[]){NULL});
    assert_int_equal(outcome.r, 0);
    assert_false(outcome.done);
    assert_null(outcome.options.config_file);
    assert_null(outcome.options.cluster_file);
    assert_null(outcome.options.kubeconfig);
    assert_null(outcome.options.context);
    assert_null(outcome.options.listen);
    assert_false(outcome.options.check || outcome.options.print_policy);
    assert_int_equal(outcome.options.log_level, LOG_INFO);
    assert_int_equal(outcome.options.log_format, LOG_KEY_VALUE);
}

static void test_all_options_are_read(void **state)
{
    (void)state;
    struct outcome outcome =
        PARSE("--config", "p.yaml", "--cluster-file=c.json", "--listen", "[::1]:0", "--check",
              "--print-policy", "--log-level=debug", "--log-format=json");
    assert_int_equal(outcome.r, 0);
    assert_false(outcome.done);
    assert_string_equal(outcome.options.config_file, "p.yaml");
    assert_string_equal(outcome.options.cluster_file, "c.json");
    assert_string_equal(outcome.options.listen, "[::1]:0");
    assert_true(outcome.options.check && outcome.options.print_policy);
    assert_int_equal(outcome.options.log_level, LOG_DEBUG);
    assert_int_equal(outcome.options.log_format, LOG_JSON);
}

static void test_a_live_cluster(void **state)
{
    (void)state;
    struct outcome outcome = PARSE("--kubeconfig", "k.yaml", "--context", "prod");
    assert_int_equal(outcome.r, 0);
    assert_string_equal(outcome.options.kubeconfig, "k.yaml");
    assert_string_equal(outcome.options.context, "prod");
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *words[5];
        const char *message;
    } CASES[] = {
        {{"--chek"}, "unknown option --chek; did you mean --check? try --help"},
        {{"--check", "--frobnicate=1"}, "unknown option --frobnicate=1; try --help"},
        {{"--master", "x"}, "unknown option --master; try --help"},
        {{"-x"}, "unknown option -x; try --help"},
        {{"--check", "-xyz"}, "unknown option -xyz; try --help"},
        {{"--config"}, "--config: needs FILE; try --help"},
        {{"--check=yes"}, "--check: takes no value; try --help"},
        {{"--log", "info"}, "--log: is ambiguous, 2 options begin with it; try --help"},
        {{"--config", "a", "b"},
         "b: is not an option (give files with --config or --cluster-file); try --help"},
        {{"--", "b"},
         "b: is not an option (give files with --config or --cluster-file); try --help"},
        {{"--config="}, "--config: is \"\", should be the name of a file; try --help"},
        {{"--cluster-file", ""},
         "--cluster-file: is \"\", should be the name of a file; try --help"},
        {{"--kubeconfig="}, "--kubeconfig: is \"\", should be the name of a file; try --help"},
        {{"--context", ""},
         "--context: is \"\", should be the name of a context of the kubeconfig; try --help"},
        {{"--kubeconfig", "k", "--cluster-file", "c"},
         "--kubeconfig and --cluster-file exclude each other: give either a live cluster or a "
         "saved one; try --help"},
        {{"--cluster-file", "c", "--context", "prod"},
         "--context and --cluster-file exclude each other: give either a live cluster or a saved "
         "one; try --help"},
        {{"--listen", "8888"},
         "--listen: is \"8888\", should be ADDR:PORT with an IP address, such as "
         "\"127.0.0.1:8888\" or \"[::1]:8888\"; try --help"},
        {{"--log-level", "loud"},
         "--log-level: is \"loud\", should be debug, info, warn or error; try --help"},
        {{"--log-format", "text"},
         "--log-format: is \"text\", should be key-value or json; try --help"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        char printed[256];
        struct outcome outcome;
        parse_and_capture(CASES[i].words, printed, sizeof printed, &outcome);
        assert_string_equal(outcome.err.text, CASES[i].message);
        assert_int_equal(outcome.r, -EINVAL);
        assert_string_equal(printed, "");
    }
}

static void test_version(void **state)
{
    (void)state;
    char printed[256];
    struct outcome outcome;
    parse_and_capture((const char *const[]){"--version", "--bogus", NULL}, printed, sizeof printed,
                      &outcome);
    assert_int_equal(outcome.r, 0);
    assert_true(outcome.done);
    assert_string_equal(printed, "gpu-extender " GPU_EXTENDER_VERSION " (commit abc)\n");
}

/* One line per option, the exit statuses, and examples. */
static void test_help(void **state)
{
    (void)state;
    static const char *const SAYS[] = {"\n  --config FILE ",
                                       "\n  --cluster-file FILE ",
                                       "\n  --kubeconfig FILE ",
                                       "\n  --context NAME ",
                                       "\n  --listen ADDR:PORT ",
                                       "\n  --check ",
                                       "\n  --print-policy ",
                                       "\n  --log-level LEVEL ",
                                       "\n  --log-format FORMAT ",
                                       "\n  --version ",
                                       "\n  --help ",
                                       "\n  0  ",
                                       "\n  1  ",
                                       "\n  2  ",
                                       "\nExamples:\n  gpu-extender --config "};
    char printed[4096];
    struct outcome outcome;
    parse_and_capture((const char *const[]){"--help", NULL}, printed, sizeof printed, &outcome);
    assert_int_equal(outcome.r, 0);
    assert_true(outcome.done);
    for (size_t i = 0; i < sizeof SAYS / sizeof *SAYS; i++) {
        if (!strstr(printed, SAYS[i]))
            fail_msg("--help does not say \"%s\":\n%s", SAYS[i], printed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_arguments_leave_the_defaults),
        cmocka_unit_test(test_all_options_are_read),
        cmocka_unit_test(test_a_live_cluster),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
