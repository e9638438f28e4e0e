/* yaml_json against tests/yaml/recorded.jsonl, which has what kubectl's own code reads. */
#include "formats/yaml_json.h"
#include "unit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* kubectl reads these; here they are errors, which name the place. */
static const char *const REJECTED[] = {
    /* the same key twice: kubectl takes the last, mostly not what was meant */
    "a: 1\na: 2",
    "{a: 1, a: 2}",
    "a: {b: 1, b: {c: 2}}",
    "yes: 1\ntrue: 2",
    "x: &x {a: 1}\nz: &z {a: 2}\nw: {<<: *x, <<: *z}",
    /* tags that nobody writes */
    "w: {!!merge <<: {a: 1}}",
    "a: !!binary aGk=",
    "a: !mine x",
    "a: !mine {b: 1}",
    "a: !!timestamp 2001-01-01",
    "a: !!set {x}",
    "a: !!str [1]",
    "a: !!map [1]",
    "a: !x",
    ".inf: a",
};
/* Read in another way. */
static const char *const OTHERWISE[] = {
    "...",                       /* kubectl: an error; here an empty document */
    "%YAML 1.2\n---\na: yes",    /* kubectl: an error */
    "1e6: a",                    /* kubectl: "1e+06" */
    "a: \"\\u00e9\\n\\x41\\0\"", /* U+0000, see yaml_json.h */
};

static bool is_among(const char *text, const char *const *texts, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(texts[i], text) == 0)
            return true;
    return false;
}
#define IS_AMONG(text, texts) is_among(text, texts, sizeof(texts) / sizeof *(texts))

/* NULL: an error. */
static char *ours(const char *text)
{
    static const struct yaml_options OPTIONS = {.max_depth = 20, .max_values = 1000};
    struct err err = {""};
    json_t *root = NULL;
    struct yaml_places *places = NULL;
    int r = yaml_read(text, strlen(text), &OPTIONS, &root, &places, &err);
    if (r < 0) {
        assert_int_equal(r, -EINVAL);
        return NULL;
    }
    char *json = root ? json_dumps(root, JSON_SORT_KEYS | JSON_ENCODE_ANY) : strdup("null");
    json_decref(root);
    yaml_places_free(places);
    return json;
}

static bool is_same(const char *is, const json_t *recorded)
{
    char *should = recorded ? json_dumps(recorded, JSON_SORT_KEYS | JSON_ENCODE_ANY) : NULL;
    const bool same = is && should ? strcmp(is, should) == 0 : !is && !should;
    if (!same)
        print_error("is     %s\nshould %s\n", is ? is : "an error", should ? should : "an error");
    free(should);
    return same;
}

static bool judge(const json_t *row)
{
    const char *text = json_string_value(json_object_get(row, "yaml"));
    const json_t *recorded = json_object_get(row, "json");
    char *is = ours(text);
    const bool is_right = IS_AMONG(text, OTHERWISE)  ? true
                          : IS_AMONG(text, REJECTED) ? recorded && !is
                                                     : is_same(is, recorded);
    if (!is_right)
        print_error("of:\n%s\n", text);
    free(is);
    return is_right;
}

static void test_all_is_read_as_kubectl_reads_it(void **state)
{
    (void)state;
    char *line = NULL;
    size_t size = 0;
    size_t n = 0;
    size_t n_wrong = 0;
    FILE *file = fopen(RECORDED, "r");
    assert_non_null(file);
    while (getline(&line, &size, file) > 0) {
        if (line[0] == '#')
            continue;
        json_t *row = json_loads(line, JSON_ALLOW_NUL, NULL);
        assert_non_null(row);
        n_wrong += !judge(row);
        n++;
        json_decref(row);
    }
    free(line);
    (void)fclose(file);
    assert_int_equal(n_wrong, 0);
    assert_true(n > 900);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_is_read_as_kubectl_reads_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
