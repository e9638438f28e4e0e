/* count_fields: see template_walk.h. */
#include "objects/templates/template_walk.h"

#include "objects/fields.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WORDS_MAX 8
#define WORD_BYTES 16
/* Objects in objects that are looked into. */
#define DEPTH_MAX 2
#define TEMPLATE_DEPTH_MAX 6

/* The words of "numOfHosts", in small letters and cut. */
struct name_words {
    char items[WORDS_MAX][WORD_BYTES];
    size_t n;
};

static struct name_words words_of(const char *key)
{
    struct name_words words = {.n = 0};
    size_t len = 0;
    for (const char *at = key; *at; at++) {
        const bool is_letter = isalnum((unsigned char)*at);
        const bool begins =
            is_letter && (at == key || !isalnum((unsigned char)at[-1]) ||
                          (isupper((unsigned char)*at) && !isupper((unsigned char)at[-1])));
        if (begins && words.n == WORDS_MAX)
            break;
        if (begins)
            words.n++, len = 0;
        if (is_letter && len + 1 < WORD_BYTES)
            words.items[words.n - 1][len++] = (char)tolower((unsigned char)*at);
    }
    return words;
}

static bool has_word(const char *list, const char *word)
{
    const size_t len = strlen(word);
    const char *at = list;
    while (len > 0 && (at = strstr(at, word))) {
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || at[len] == '\0'))
            return true;
        at += len;
    }
    return false;
}

static bool is_thing(const char *word)
{
    static const char THINGS[] =
        "accelerator available backoff backup batch block body buffer cache checkpoint chunk "
        "connection context core cpu current device disk embedding epoch error event failed "
        "failure feature file font gpu heap hidden history image iteration kernel layer log "
        "memory message metric observed page payload persistence pool port queue ready request "
        "restart retries retry revision sample shm stack state step storage success swap thread "
        "token updated version vocab volume warmup window";
    char one[WORD_BYTES];
    const size_t len = strlen(word);
    memcpy(one, word, len + 1);
    if (len > 1 && one[len - 1] == 's')
        one[len - 1] = '\0';
    return has_word(THINGS, word) || has_word(THINGS, one);
}

/* The thing that is counted, or not, by "batchSize", "retryCount" and "gpuCount". */
static bool is_of_pods(const struct name_words *words)
{
    for (size_t i = 0; i < words->n; i++) {
        if (is_thing(words->items[i]))
            return false;
    }
    return true;
}

/* "numNodes", "groupSize", "nodesPerReplica"; not nprocPerNode, slotsPerWorker, minAvailable. */
static bool is_count(const struct name_words *words)
{
    static const char COUNTS[] = "copies count executors groups hosts instances machines members "
                                 "nnodes nodes parallelism pods replicas scale servers shards size "
                                 "slices workers";
    const bool is_rate = words->n > 2 && strcmp(words->items[1], "per") == 0;
    return has_word(COUNTS, words->items[is_rate ? 0 : words->n - 1]) && is_of_pods(words);
}

/* Of something else than the pods' number. */
static bool is_of_others(const char *word)
{
    static const char OTHERS[] = "access auth cleanup completion compute concurrency debug default "
                                 "dns file ipc load log logging memory network numa power "
                                 "precision quantization restart scheduling security sharing ssl "
                                 "storage tls update volume";
    return has_word(OTHERS, word);
}

static bool is_mode(const struct name_words *words)
{
    return strcmp(words->items[words->n - 1], "mode") == 0 && !is_of_others(words->items[0]);
}

/* A whole number, which some kinds want in quotes; -1: none. */
static json_int_t number_of(const json_t *value)
{
    const char *text = json_string_value(value);
    if (json_is_integer(value))
        return json_integer_value(value);
    return text && *text && strspn(text, "0123456789") == strlen(text) ? strtoll(text, NULL, 10)
                                                                       : -1;
}

/* min and max of "autoscaling" and of "workers". */
static bool is_bound_of(const char *around, const json_t *value)
{
    static const char SCALES[] = "autoscaler autoscaling hpa scaler scaling";
    const struct name_words words = words_of(around);
    return json_is_integer(value) && words.n > 0 &&
           (has_word(SCALES, words.items[words.n - 1]) || is_count(&words));
}

/* A bound of a count matters even if it is 1. */
static bool may_change_count(const char *key, const json_t *value)
{
    static const char OFF[] = "disabled hibernate hibernated pause paused stopped suspend "
                              "suspended";
    const struct name_words words = words_of(key);
    if (words.n == 0)
        return false;
    const char *last = words.items[words.n - 1];
    if (json_is_boolean(value))
        return json_is_true(value) ? has_word(OFF, last) : strcmp(last, "enabled") == 0;
    if (json_is_string(value) && *json_string_value(value) && is_mode(&words))
        return true;
    const json_int_t n = number_of(value);
    const bool is_bound = has_word("min max", words.items[0]);
    return n >= 0 && (is_bound || n != 1) && is_count(&words);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static bool has_pods(const json_t *value, int depth)
{
    const char *key = NULL;
    json_t *inside = NULL;
    size_t i = 0;
    if (depth > TEMPLATE_DEPTH_MAX)
        return false;
    if (json_is_array(json_object_get(value, "containers")))
        return true;
    json_object_foreach ((json_t *)(uintptr_t)value, key, inside)
        if (has_pods(inside, depth + 1))
            return true;
    json_array_foreach (value, i, inside)
        if (has_pods(inside, depth + 1))
            return true;
    return false;
}

void count_fields_add_path(struct count_fields *fields, const char *path)
{
    for (size_t i = 0; i < fields->n; i++) {
        if (strcmp(fields->paths[i], path) == 0)
            return;
    }
    if (fields->n < COUNT_FIELDS_MAX)
        fields->paths[fields->n++] = path;
}

/* Objects of which no member counts pods. */
static bool is_aside(const char *key)
{
    static const char ASIDE[] = "affinity annotations dataset engine labels limits metadata model "
                                "requests resources selector status storage strategy template";
    const struct name_words words = words_of(key);
    return words.n == 0 || has_word(ASIDE, words.items[words.n - 1]) || !is_of_pods(&words) ||
           is_of_others(words.items[0]);
}

/* Whether a member of an object beside the template may change the count. What is not enabled
 * there, such as an ingress, is another thing than pods. */
static bool may_change_from_beside(const char *around, const char *key, const json_t *value)
{
    const char *dot = strrchr(around, '.');
    const bool is_switch =
        json_is_boolean(value) && (strcmp(key, "enabled") == 0 || strcmp(key, "disabled") == 0);
    const bool is_bound = strcmp(key, "min") == 0 || strcmp(key, "max") == 0;
    return is_bound ? is_bound_of(dot ? dot + 1 : around, value)
                    : !is_switch && may_change_count(key, value);
}

// NOLINTNEXTLINE(misc-no-recursion): the depth is bounded
static void add_inside(struct count_fields *fields, const json_t *object, const char *path,
                       int depth, struct arena *arena)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)object, key, value) {
        const char *inside = arena_printf(arena, "%s.%s", path, quoted_plain(arena, key));
        if (may_change_from_beside(path, key, value))
            count_fields_add_path(fields, inside);
        else if (json_is_object(value) && depth < DEPTH_MAX && !is_aside(key))
            add_inside(fields, value, inside, depth + 1, arena);
    }
}

void count_fields_add(struct count_fields *fields, const struct counted_object *counting,
                      struct arena *arena)
{
    const char *path = counting->path;
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach ((json_t *)(uintptr_t)counting->object, key, value) {
        const char *inside =
            arena_printf(arena, "%s%s%s", path, *path ? "." : "", quoted_plain(arena, key));
        if (strcmp(key, counting->next) == 0 || has_word(counting->read, key))
            continue;
        if (may_change_count(key, value))
            count_fields_add_path(fields, inside);
        else if (json_is_object(value) && !is_aside(key) && !has_pods(value, 0))
            add_inside(fields, value, inside, 1, arena);
    }
}
