/* gpu_model: the tables of names and matches in this folder, aliases, memory; and stable parsing of
 * any words. */
#include "tsv.h"
#include "types/gpu_model.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB (INT64_C(1) << 20)
#define GIB (INT64_C(1) << 30)

static struct gpu_model read_model(const char *text)
{
    struct gpu_model model;
    (void)gpu_model_parse(text, NULL, 0, &model);
    return model;
}

static const char *sharing_text(const struct gpu_model *model, char *text)
{
    static const char *const NAMES[] = {"whole", "shared", "mig:"};
    (void)sprintf(text, "%s%s", NAMES[model->sharing], model->mig_profile);
    return text;
}

static void assert_reading(const char *label, const struct gpu_model *model,
                           const char *const *want)
{
    char got[256];
    char wanted[256];
    char sharing[64];
    (void)snprintf(got, sizeof got, "%s: chip=%s form=%s memory=%d type=%s sharing=%s", label,
                   model->chip, model->form, model->memory_gb, model->memory_type,
                   model->chip[0] ? sharing_text(model, sharing) : "");
    (void)snprintf(wanted, sizeof wanted, "%s: chip=%s form=%s memory=%d type=%s sharing=%s", label,
                   want[0], want[1], (int)strtol(want[2], NULL, 10), want[3], want[4]);
    assert_string_equal(got, wanted);
}

/* A parsed model's text must parse to the same model. */
static void assert_stable(const char *label)
{
    struct gpu_model model = read_model(label);
    char text[128];
    struct gpu_model again = read_model(gpu_model_text(&model, text));
    if (!gpu_model_equal(&model, &again))
        fail_msg("\"%s\" is read as \"%s\", and that as chip=%s form=%s memory=%d type=%s", label,
                 text, again.chip, again.form, again.memory_gb, again.memory_type);
    assert_int_equal(again.sharing, GPU_WHOLE);
}

static void test_names_are_read_as_the_table_says(void **state)
{
    (void)state;
    struct tsv table = tsv_open("gpu_models.tsv");
    int n = 0;
    for (; tsv_next(&table, 6); n++) {
        struct gpu_model model;
        bool is_model = gpu_model_parse(table.columns[0], NULL, 0, &model);
        assert_reading(table.columns[0], &model, table.columns + 1);
        assert_int_equal(is_model, table.columns[1][0] != '\0');
        assert_stable(table.columns[0]);
    }
    assert_in_range(n, 200, 10000);
}

static void test_requests_match_as_the_table_says(void **state)
{
    (void)state;
    struct tsv table = tsv_open("gpu_model_matches.tsv");
    int n = 0;
    for (; tsv_next(&table, 4); n++) {
        struct gpu_model have = read_model(table.columns[0]);
        struct gpu_model want = read_model(table.columns[2]);
        int64_t bytes = strtoll(table.columns[1], NULL, 10) * MIB;
        if (gpu_model_satisfies(&have, bytes, &want) != (strcmp(table.columns[3], "yes") == 0))
            fail_msg("line %d: a %s with %s MiB for who asks for %s: should be %s",
                     table.line_number, table.columns[0], table.columns[1], table.columns[2],
                     table.columns[3]);
    }
    assert_in_range(n, 100, 10000);
}

/* The models of "A100,T4". */
static size_t read_there(const char *text, struct gpu_model_there *there)
{
    char name[128];
    size_t n = 0;
    for (size_t len; *text; text += len, text += *text == ',') {
        len = strcspn(text, ",");
        (void)snprintf(name, sizeof name, "%.*s", (int)len, text);
        there[n++] = (struct gpu_model_there){.model = read_model(name)};
    }
    return n;
}

static void test_the_meant_model_is_guessed_as_the_table_says(void **state)
{
    (void)state;
    struct tsv table = tsv_open("gpu_model_nearest.tsv");
    int n = 0;
    for (; tsv_next(&table, 3); n++) {
        struct gpu_model_there there[8];
        struct gpu_model nearest = {0};
        struct gpu_model want = read_model(table.columns[1]);
        char text[128];
        const size_t n_there = read_there(table.columns[0], there);
        const bool found = gpu_model_nearest(&want, there, n_there, &nearest);
        gpu_model_text(&nearest, text);
        if (found != (table.columns[2][0] != '\0') || strcmp(text, table.columns[2]) != 0)
            fail_msg("line %d: %s where there is %s: \"%s\", should be \"%s\"", table.line_number,
                     table.columns[1], table.columns[0], text, table.columns[2]);
    }
    assert_in_range(n, 25, 1000);
}

/* The same GPU without its family, and the words of a name without a chip. */
static bool is_the_same_chip(const char *a, const char *b)
{
    static const char *const SAME[][2] = {
        {"4070-Ti-Super", "RTX-4070-Ti-Super"},
        {"80-SXM4-GB", "SXM4-80GB"},
    };
    for (size_t i = 0; i < sizeof SAME / sizeof SAME[0]; i++)
        if ((strcmp(a, SAME[i][0]) == 0 && strcmp(b, SAME[i][1]) == 0) ||
            (strcmp(b, SAME[i][0]) == 0 && strcmp(a, SAME[i][1]) == 0))
            return true;
    return strcmp(a, b) == 0;
}

/* A request for a chip of the table never gets another chip of the table as the guess. */
static void test_an_existing_chip_is_never_taken_for_another(void **state)
{
    (void)state;
    static struct gpu_model_there there[500];
    struct tsv table = tsv_open("gpu_models.tsv");
    size_t n = 0;
    while (n < 500 && tsv_next(&table, 6))
        if (gpu_model_parse(table.columns[0], NULL, 0, &there[n].model))
            n++;
    for (size_t i = 0; i < n; i++) {
        const struct gpu_model want = read_model(there[i].model.chip);
        for (size_t j = 0; j < n; j++) {
            struct gpu_model nearest;
            if (!is_the_same_chip(want.chip, there[j].model.chip) &&
                gpu_model_nearest(&want, &there[j], 1, &nearest))
                fail_msg("%s was taken for %s", want.chip, there[j].model.chip);
        }
    }
}

/* No chip of the table satisfies another. */
static void test_chips_are_distinguished(void **state)
{
    (void)state;
    static struct gpu_model models[500];
    struct tsv table = tsv_open("gpu_models.tsv");
    size_t n = 0;
    while (n < 500 && tsv_next(&table, 6))
        if (gpu_model_parse(table.columns[0], NULL, 0, &models[n]))
            n++;
    for (size_t i = 0; i < n; i++) {
        struct gpu_model chip = read_model(models[i].chip);
        for (size_t j = 0; j < n; j++)
            assert_int_equal(gpu_model_satisfies(&models[j], 0, &chip),
                             strcmp(models[i].chip, models[j].chip) == 0);
    }
}

static void test_printed_text_is_canonical(void **state)
{
    (void)state;
    static const char *const CASES[][2] = {
        {"NVIDIA-A100-SXM4-80GB", "A100-SXM4-80GB"},
        {"nvidia a100 80gb sxm4", "A100-SXM4-80GB"},
        {"NVIDIA-H100-80GB-HBM3-SHARED", "H100-80GB-HBM3"},
        {"geforce_rtx_3090_ti", "RTX-3090-Ti"},
        {"nvidia-gh200-480gb", "GH200-480GB"},
        {"b300-ac-sxm6", "B300-SXM6-AC"},
        {"A100-HBM2E-PCIE", "A100-PCIe-HBM2e"},
        {"nvidia", ""},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct gpu_model model = read_model(CASES[i][0]);
        char text[128];
        assert_string_equal(gpu_model_text(&model, text), CASES[i][1]);
    }
}

static void test_aliases_come_first(void **state)
{
    (void)state;
    const struct gpu_model_alias aliases[] = {
        {"V100M32", "V100-32GB"},
        {"nvidia-tesla-a100", "A100-40GB"},
        {"V100-32GB", "K80"},
        {"graphics card 1", ""},
        {"", "T4"},
        {"-", "T4"},
    };
    static const char *const CASES[][2] = {
        {"V100M32", "V100-32GB"},
        {"v100m32", "V100-32GB"},
        {"V100_M32", "V100-32GB"},
        {"NVIDIA_TESLA_A100", "A100-40GB"},
        {"nvidia-tesla-a100-80gb", "A100-80GB"},
        {"V100M321", "V100M321"},
        {"V100M3", "V100M3"},
        {"V100M32SHARED", "V100M32SHARED"},
        {"NVIDIA-V100M32", "V100M32"},
        {"A100", "A100"},
        {"V100 32GB", "K80"},
        {"Graphics-Card-1", ""},
        {"", ""},
        {"-", ""},
        {"L4", "L4"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct gpu_model model;
        char text[128];
        bool is_model = gpu_model_parse(CASES[i][0], aliases, 6, &model);
        assert_string_equal(gpu_model_text(&model, text), CASES[i][1]);
        assert_int_equal(is_model, CASES[i][1][0] != '\0');
    }
}

static void test_an_alias_keeps_how_the_gpu_is_shared(void **state)
{
    (void)state;
    const struct gpu_model_alias aliases[] = {{"V100M32", "V100-32GB"}, {"half", "L4-SHARED"}};
    struct gpu_model model;
    assert_true(gpu_model_parse("V100M32-SHARED", aliases, 2, &model));
    assert_reading("shared", &model, (const char *[]){"V100", "", "32", "", "shared"});
    assert_true(gpu_model_parse("v100m32-MIG-1g.5gb-SHARED", aliases, 2, &model));
    assert_reading("mig", &model, (const char *[]){"V100", "", "32", "", "mig:1g.5gb"});
    assert_true(gpu_model_parse("half", aliases, 2, &model));
    assert_reading("half", &model, (const char *[]){"L4", "", "", "", "shared"});
    assert_true(gpu_model_parse("V100M32-SHARED-2", aliases, 2, &model));
    assert_string_equal(model.chip, "V100M32-SHARED-2");
}

static void test_names_that_are_too_long_are_no_models(void **state)
{
    (void)state;
    char text[5000];
    struct gpu_model model;
    for (size_t len = 1; len < sizeof text; len = len * 5 / 4 + 1) {
        memset(text, 'x', len);
        text[len] = '\0';
        assert_int_equal(gpu_model_parse(text, NULL, 0, &model), len < GPU_MODEL_TEXT_MAX);
        assert_int_equal(strlen(model.chip), len < GPU_MODEL_TEXT_MAX ? len : 0);
    }
    for (size_t i = 0; i < sizeof text - 1; i++)
        text[i] = i % 2 ? '-' : 'x';
    text[sizeof text - 1] = '\0';
    assert_false(gpu_model_parse(text, NULL, 0, &model));
    assert_false(gpu_model_parse("A100-MIG-123456789012345678901234", NULL, 0, &model));
    assert_string_equal(model.chip, "");
    assert_int_equal(model.sharing, GPU_WHOLE);
    assert_false(gpu_model_parse("", NULL, 0, &model));
}

static void test_memory_of_a_name(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int64_t gib;
    } CASES[] = {
        {"NVIDIA-A100-SXM4-80GB", 80},
        {"NVIDIA-A100-SXM4-80GB-SHARED", 80},
        {"NVIDIA-L4", 0},
        {"NVIDIA-GH200-480GB", 0},
        {"nvidia", 0},
        /* A slice has its own memory, not the whole GPU's. */
        {"NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", 5},
        {"NVIDIA-A100-SXM4-40GB-MIG-1c.3g.20gb-SHARED", 20},
        {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb+me", 10},
        {"NVIDIA-A100-SXM4-40GB-MIG-INVALID", 0},
        {"NVIDIA-A100-SXM4-40GB-MIG-1g.gb", 0},
        {"NVIDIA-A100-SXM4-40GB-MIG-1g.5", 0},
        {"NVIDIA-A100-SXM4-40GB-MIG", 0},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        struct gpu_model model = read_model(CASES[i].name);
        assert_int_equal(gpu_model_memory_bytes(&model), CASES[i].gib * GIB);
    }
}

static void test_enough_memory_is_fifteen_sixteenths(void **state)
{
    (void)state;
    assert_true(gpu_memory_is_enough(40536 * MIB, 40 * GIB)); /* an A100-40GB */
    assert_true(gpu_memory_is_enough(46068 * MIB, 48 * GIB)); /* an L40S */
    assert_true(gpu_memory_is_enough(23 * GIB, 25 * GIB));
    assert_false(gpu_memory_is_enough(23 * GIB - 1, 25 * GIB));
    assert_true(gpu_memory_is_enough(1, 1));
    assert_false(gpu_memory_is_enough(0, 1));
    assert_true(gpu_memory_is_enough(INT64_MAX, INT64_MAX));
    assert_false(gpu_memory_is_enough(INT64_MAX / 25 * 23 - 1, INT64_MAX));
    assert_false(gpu_memory_is_enough(0, INT64_MAX));
}

static void test_models_are_equal_only_if_all_parts_are(void **state)
{
    (void)state;
    static const char *const DIFFERENT[] = {"A100",      "A100-80GB",       "A100-40GB",
                                            "A100-SXM4", "A100-SXM4-80GB",  "A100-HBM2e",
                                            "A100-PCIe", "A100-PCIe-HBM2e", "A10"};
    size_t n = sizeof DIFFERENT / sizeof DIFFERENT[0];
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            struct gpu_model a = read_model(DIFFERENT[i]);
            struct gpu_model b = read_model(DIFFERENT[j]);
            assert_int_equal(gpu_model_equal(&a, &b), i == j);
        }
    }
    struct gpu_model whole = read_model("A100");
    struct gpu_model shared = read_model("A100-SHARED");
    assert_true(gpu_model_equal(&whole, &shared));
}

/* Names made of known words in any order. */
static void test_parsing_is_idempotent_for_any_text(void **state)
{
    (void)state;
    static const char *const WORDS[] = {
        "A",      "100",         "A100",   "RTX",    "3090", "3090Ti",   "D",        "PRO",
        "V620",   "SXM4",        "PCIe",   "80GB",   "40GB", "GB",       "HBM3",     "HBM2",
        "nvidia", "MIG",         "1g.5gb", "SHARED", "AC",   "RTXA6000", "TITANRTX", "TISUPER",
        "Server", "Workstation", "GH200",  "480GB",  "MI",   "300X",
    };
    uint32_t random = 20240229;
    for (int i = 0; i < 50000; i++) {
        char name[128];
        size_t len = 0;
        random = random * 1664525 + 1013904223;
        for (uint32_t n = 1 + (random >> 16) % 7; n > 0; n--) {
            random = random * 1664525 + 1013904223;
            const char *word = WORDS[(random >> 16) % (sizeof WORDS / sizeof WORDS[0])];
            len += (size_t)snprintf(name + len, sizeof name - len, "%s-", word);
        }
        assert_stable(name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names_are_read_as_the_table_says),
        cmocka_unit_test(test_requests_match_as_the_table_says),
        cmocka_unit_test(test_the_meant_model_is_guessed_as_the_table_says),
        cmocka_unit_test(test_an_existing_chip_is_never_taken_for_another),
        cmocka_unit_test(test_chips_are_distinguished),
        cmocka_unit_test(test_printed_text_is_canonical),
        cmocka_unit_test(test_aliases_come_first),
        cmocka_unit_test(test_an_alias_keeps_how_the_gpu_is_shared),
        cmocka_unit_test(test_names_that_are_too_long_are_no_models),
        cmocka_unit_test(test_memory_of_a_name),
        cmocka_unit_test(test_enough_memory_is_fifteen_sixteenths),
        cmocka_unit_test(test_models_are_equal_only_if_all_parts_are),
        cmocka_unit_test(test_parsing_is_idempotent_for_any_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
