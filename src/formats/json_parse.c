/* json_parse: see include/formats/json_parse.h and json_cost.h. The only caller of jansson's
 * parser. */
#include "formats/json_parse.h"
#include "base/hash.h"
#include "base/mem.h"
#include "encoding.h"
#include "formats/json_values.h"
#include "json_cost.h"
#include "json_scan.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/random.h>

#define MI ((size_t)1024 * 1024)

const struct json_budget JSON_OWN = {
    .max_values = SIZE_MAX, .max_tree_bytes = SIZE_MAX, .max_depth = JSON_PARSER_MAX_DEPTH};
const struct json_budget JSON_ANSWER = {
    .max_values = 50000, .max_tree_bytes = 32 * MI, .max_depth = JSON_PARSER_MAX_DEPTH};

struct json_cost json_cost_since(struct json_cost now, struct json_cost then)
{
    return (struct json_cost){now.n_values - then.n_values, now.n_bytes - then.n_bytes};
}

static int over(size_t n, size_t max, const char *unit, const char *key, const char *what,
                struct err *err)
{
    if (key)
        return err_set(err, EMSGSIZE, "%shas %zu %s, should have at most %zu (%s)", what, n, unit,
                       max, key);
    return err_set(err, EMSGSIZE, "%shas %zu %s, should have at most %zu", what, n, unit, max);
}

int json_cost_check(struct json_cost cost, const struct json_budget *budget, const char *what,
                    struct err *err)
{
    if (cost.n_values > budget->max_values)
        return over(cost.n_values, budget->max_values, "values", budget->values_key, what, err);
    if (cost.n_bytes > budget->max_tree_bytes)
        return over(cost.n_bytes, budget->max_tree_bytes, "bytes in memory", budget->bytes_key,
                    what, err);
    return 0;
}

json_t *json_cost_load(const char *text, size_t len, size_t flags, json_error_t *ret_error)
{
    return json_loadb(text, len, flags, ret_error);
}

/* Validates the whole text. *ret_cost includes the bytes of its strings and keys. */
static int count(const char *text, size_t len, size_t max_depth, struct json_cost *ret_cost,
                 struct err *err)
{
    struct json_scan scan;
    const char *at = text;
    int r = 0;
    json_scan_init(&scan, SCAN_ONE_VALUE, max_depth);
    json_scan_piece(&scan, text);
    enum json_scan_event event = SCAN_MORE;
    while (at < text + len && event != SCAN_FAULT)
        event = json_scan_run(&scan, &at, text + len);
    json_scan_piece_done(&scan, text + len);
    if (event != SCAN_FAULT)
        event = json_scan_end(&scan);
    if (event == SCAN_FAULT)
        r = json_scan_fault(&scan, err);
    *ret_cost = (struct json_cost){scan.cost.n_values, scan.cost.n_bytes + len};
    json_scan_fini(&scan);
    return r;
}

/* NULL: the text needs no copy. */
static char *copy_without_nul(const char *text, size_t len)
{
    if (encoding_find_nul(text, len, 0) == len)
        return NULL;
    char *copy = mem_new(len);
    memcpy(copy, text, len);
    encoding_replace_nuls(copy, len);
    return copy;
}

int json_parse(const char *text, size_t len, size_t flags, const struct json_budget *budget,
               json_t **ret_value, struct err *err)
{
    json_error_t error;
    struct json_cost cost = {0};
    int r = count(text, len, budget->max_depth, &cost, err);
    if (r == 0)
        r = json_cost_check(cost, budget, "", err);
    if (r < 0)
        return r;
    char *copy CLEANUP(mem_free_ptr) = copy_without_nul(text, len);
    json_t *value = json_cost_load(copy ? copy : text, len, flags, &error);
    if (!value)
        return err_set(err, EINVAL, "%d:%d: %s", error.line, error.column, error.text);
    *ret_value = value;
    return 0;
}

json_t *json_parse_own(const char *text)
{
    json_error_t error;
    return json_cost_load(text, strlen(text), JSON_DECODE_ANY, &error);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth of a tree is bounded
size_t json_count_values(const json_t *value)
{
    size_t n = 1;
    size_t i = 0;
    const char *key = NULL;
    json_t *inside = NULL;
    if (json_is_array(value))
        json_array_foreach (value, i, inside)
            n += json_count_values(inside);
    json_object_foreach ((json_t *)(uintptr_t)value, key, inside)
        n += json_count_values(inside);
    return n;
}

int json_parse_seed(struct err *err)
{
    struct siphash_key key;
    size_t json_seed = 0;
    if (getrandom(&key, sizeof key, 0) != sizeof key ||
        getrandom(&json_seed, sizeof json_seed, 0) != sizeof json_seed)
        return err_set(err, errno, "getrandom: %s", strerror(errno));
    hash_set_key(key);
    json_set_seed(json_seed);
    return 0;
}
