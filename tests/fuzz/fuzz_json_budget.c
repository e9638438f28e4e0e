/*
 * The budget scanner: a text that it admits takes no more values and memory than the budget, and
 * one that it rejects over the budget is valid and has more. A stream with the same budget agrees,
 * and its second pass for counted members reads no others.
 */
#include "formats/json_parse.h"
#include "formats/json_stream.h"
#include "require.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MAX_VALUES 40
#define MAX_TREE_BYTES 6000
#define PARSER_BYTES 1024 /* jansson's own, however short the text */

static size_t held, most_held;

static void *counted_malloc(size_t size)
{
    void *memory = malloc(size);
    held += malloc_usable_size(memory);
    most_held = held > most_held ? held : most_held;
    return memory;
}

static void counted_free(void *memory)
{
    held -= memory ? malloc_usable_size(memory) : 0;
    free(memory);
}

static const struct json_budget BUDGET = {
    .max_values = MAX_VALUES, .max_tree_bytes = MAX_TREE_BYTES, .max_depth = 20};

static void check_parse(const char *text, size_t len)
{
    json_t *value = NULL;
    held = most_held = 0;
    int r = json_parse(text, len, JSON_DECODE_ANY, &BUDGET, &value, NULL);
    require(r == 0 || r == -EINVAL || r == -EMSGSIZE);
    if (r == 0) {
        require(json_count_values(value) <= MAX_VALUES);
        require(most_held <= MAX_TREE_BYTES + 2 * len + PARSER_BYTES);
    }
    json_decref(value);
    require(r != -EMSGSIZE || most_held == 0);
}

static void check_kept(const char *text, size_t len)
{
    static const char *const KEEP[] = {"a.b", "c[].d", "e", NULL};
    const struct json_stream_options options = {
        .only = KEEP, .object_budget = &BUDGET, .max_object_bytes = len + 1, .max_depth = 20};
    json_t *value = NULL;
    const char *key = NULL;
    json_t *member = NULL;
    const int r = json_stream_read(text, len, &options, &value, NULL);
    require(r != 0 || json_count_values(value) <= MAX_VALUES);
    json_object_foreach (value, key, member)
        require(strcmp(key, "a") == 0 || strcmp(key, "c") == 0 || strcmp(key, "e") == 0);
    json_decref(value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    json_set_alloc_funcs(counted_malloc, counted_free);
    check_parse((const char *)data, size);
    check_kept((const char *)data, size);
    return 0;
}
