/* json_strings: see include/formats/json_strings.h. */
#include "formats/json_strings.h"

#include "encoding.h"
#include "json_cost.h"
#include "json_scan.h"

#include <errno.h>
#include <string.h>

#define MAX_DEPTH ((size_t)1000)

/* begin: NULL until found. */
struct json_strings_span {
    char *begin, *end;
};

struct finder {
    struct json_scan scan;
    struct arena *arena;
    char *text; /* NULs replace the quotes that end the items */
    size_t len;
    const struct json_strings_keys *keys;
    struct json_strings_span list;  /* with its brackets */
    struct json_strings_span aside; /* a value of any type */
    size_t n_before;                /* values before the one set aside */
    size_t n_aside;
    char *mark;                                  /* first byte of the current key or item */
    enum { OTHER_KEY, LIST_KEY, ASIDE_KEY } key; /* of the current member */
    bool has_list;
    bool has_odd;              /* an item that is not ASCII */
    bool is_inside;            /* inside the list */
    struct hashed_text *items; /* NULL: none so far */
    size_t n;
    size_t size; /* capacity of items */
};

/* The text behind the list may be long. */
#define ITEMS_AHEAD_MAX ((size_t)8192)

/* Room for all items if those to come are as long as this one. */
static void make_room(struct finder *finder, const struct hashed_text *item)
{
    const size_t n_left = finder->len - (size_t)(item->text - finder->text);
    const size_t n_ahead = n_left / (item->len + sizeof "\"\"");
    const size_t size = 2 * finder->n + 1 + (n_ahead < ITEMS_AHEAD_MAX ? n_ahead : ITEMS_AHEAD_MAX);
    struct hashed_text *items = ARENA_ARRAY_UNSET(finder->arena, struct hashed_text, size);
    if (finder->n > 0)
        memcpy(items, finder->items, finder->n * sizeof *items);
    finder->items = items;
    finder->size = size;
}

/* quote: after the item. */
static void add_item(struct finder *finder, char *quote, struct hashed_text item)
{
    if (finder->n == finder->size)
        make_room(finder, &item);
    finder->items[finder->n++] = item;
    *quote = '\0';
}

/* Whether the string from the mark to its closing quote has no escapes. */
static bool has_no_escape(const struct finder *finder, const char *quote)
{
    return !memchr(finder->mark, '\\', (size_t)(quote - finder->mark));
}

static bool is_key(const struct finder *finder, const char *key, const char *quote)
{
    const size_t len = (size_t)(quote - finder->mark);
    return strlen(key) == len && memcmp(key, finder->mark, len) == 0;
}

static bool end_key(struct finder *finder, const char *quote)
{
    finder->key = is_key(finder, finder->keys->list, quote)    ? LIST_KEY
                  : is_key(finder, finder->keys->aside, quote) ? ASIDE_KEY
                                                               : OTHER_KEY;
    return has_no_escape(finder, quote);
}

static bool begin_value(struct finder *finder, char *first)
{
    finder->mark = first + 1;
    if (finder->is_inside)
        return *first == '"';
    if (finder->key == ASIDE_KEY) {
        const bool is_second = finder->aside.begin;
        finder->aside.begin = first;
        finder->n_before = finder->scan.cost.n_values - 1;
        return !is_second;
    }
    if (finder->key == OTHER_KEY)
        return true;
    if (finder->has_list)
        return false;
    finder->has_list = true;
    if (*first != '[')
        return true;
    finder->items = ARENA_NEW(finder->arena, struct hashed_text);
    finder->list.begin = first;
    finder->is_inside = true;
    finder->scan.watch_depth = 2;
    return true;
}

/* after: the first byte after the value. */
static bool end_value(struct finder *finder, char *after)
{
    if (!finder->is_inside && finder->key == ASIDE_KEY && finder->scan.depth == 1) {
        finder->aside.end = after;
        finder->n_aside = finder->scan.cost.n_values - finder->n_before;
    }
    if (!finder->is_inside)
        return true;
    if (finder->scan.depth == 1) {
        finder->list.end = after;
        finder->is_inside = false;
        finder->scan.watch_depth = 1;
        return true;
    }
    if (!has_no_escape(finder, after - 1))
        return false;
    const size_t len = (size_t)(after - 1 - finder->mark);
    for (size_t i = 0; i < len; i++)
        finder->has_odd |= (unsigned char)finder->mark[i] >= 0x80;
    add_item(finder, after - 1,
             (struct hashed_text){finder->mark, len, hash_name(finder->mark, len)});
    return true;
}

/* Whether the fast path still applies. at: the first unread byte. */
static bool on_event(struct finder *finder, enum json_scan_event event, char *at)
{
    switch (event) {
    case SCAN_KEY_BEGIN:
        finder->mark = at;
        return true;
    case SCAN_KEY_END:
        return end_key(finder, at - 1);
    case SCAN_VALUE_BEGIN:
        return begin_value(finder, at - 1);
    case SCAN_VALUE_END:
        return end_value(finder, at);
    case SCAN_FAULT:
        return false;
    case SCAN_MORE:
        break;
    }
    return true;
}

/* hash_name() of the words that are looked at for the closing quote anyway. Returns the length.
 * SIZE_MAX: the string has other characters than plain ASCII, or ends behind `last`, where the last
 * word begins. */
static inline size_t hash_plain(const char *text, const char *last, struct siphash_key key,
                                uint64_t *ret_hash)
{
    uint64_t hash = key.k0;
    for (const char *at = text; at <= last; at += 8) {
        const uint64_t word = word_at(at);
        const uint64_t special = word_specials(word);
        if (!special) {
            hash = hash_name_word(key, hash, word);
            continue;
        }
        const unsigned n_tail = (unsigned)__builtin_ctzll(special) / 8;
        const size_t len = (size_t)(at - text) + n_tail;
        *ret_hash = hash_name_end(key, hash, word & ((UINT64_C(1) << (8 * n_tail)) - 1), len);
        return at[n_tail] == '"' ? len : SIZE_MAX;
    }
    return SIZE_MAX;
}

/* Takes items separated by a comma only. at: after an item; the scan would be in the same state
 * after the last one taken. */
static char *take_plain_items(struct finder *finder, char *at, const char *end)
{
    const struct siphash_key key = hash_key();
    const char *last = end - at > 8 ? end - 8 : at;
    while (at < last && at[0] == ',' && at[1] == '"') {
        struct hashed_text item = {.text = at + 2};
        item.len = hash_plain(item.text, last, key, &item.hash);
        if (item.len == SIZE_MAX)
            break;
        at += item.len + 3;
        add_item(finder, at - 1, item);
    }
    return at;
}

static bool find(struct finder *finder)
{
    const char *at = finder->text;
    const char *end = finder->text + finder->len;
    bool usual = true;
    json_scan_piece(&finder->scan, finder->text);
    while (usual && at < end) {
        enum json_scan_event event = json_scan_run(&finder->scan, &at, end);
        char *seen = finder->text + (at - finder->text);
        usual = on_event(finder, event, seen);
        if (usual && event == SCAN_VALUE_END && finder->is_inside)
            at = take_plain_items(finder, seen, end);
    }
    if (!usual)
        return false;
    json_scan_piece_done(&finder->scan, end);
    return json_scan_end(&finder->scan) != SCAN_FAULT && (finder->list.end || finder->aside.end);
}

/* Appends the text from *from to the place, and then what replaces it. */
static void replace(struct json_strings *strings, char *rest, const char **from,
                    const struct json_strings_span *place, const char *by)
{
    const size_t n = (size_t)(place->begin - *from);
    memcpy(rest + strings->rest_len, *from, n);
    strings->rest_len += n;
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the length is kept */
    memcpy(rest + strings->rest_len, by, strlen(by));
    strings->rest_len += strlen(by);
    *from = place->end;
}

static struct json_strings result(const struct finder *finder)
{
    static const char NONE[] = "null";
    const char *from = finder->text;
    const char *end = finder->text + finder->len;
    const bool is_first =
        finder->aside.begin && finder->list.begin && finder->aside.begin < finder->list.begin;
    const size_t n_list = (size_t)(finder->list.end - finder->list.begin);
    const size_t n_less = n_list + (size_t)(finder->aside.end - finder->aside.begin);
    char *rest = arena_alloc_unset(finder->arena, finder->len - n_less + sizeof "[]" + sizeof NONE);
    const bool are_plain =
        finder->list.begin && !finder->has_odd && !memchr(finder->list.begin, '\x7f', n_list);
    struct json_strings strings = {
        .items = finder->items, .n = finder->n, .are_plain = are_plain, .rest = rest};
    if (is_first)
        replace(&strings, rest, &from, &finder->aside, NONE);
    if (finder->list.begin)
        replace(&strings, rest, &from, &finder->list, "[]");
    if (finder->aside.begin && !is_first)
        replace(&strings, rest, &from, &finder->aside, NONE);
    memcpy(rest + strings.rest_len, from, (size_t)(end - from));
    strings.rest_len += (size_t)(end - from);
    strings.aside = finder->aside.begin;
    strings.aside_len = (size_t)(finder->aside.end - finder->aside.begin);
    strings.n_aside_values = finder->n_aside;
    return strings;
}

bool json_strings_take(char *text, size_t len, const struct json_strings_keys *keys,
                       struct arena *arena, struct json_strings *ret_strings)
{
    struct finder finder = {.arena = arena, .keys = keys, .text = text, .len = len};
    json_scan_init(&finder.scan, SCAN_ONE_VALUE, MAX_DEPTH);
    finder.scan.watch_depth = 1;
    const bool found = find(&finder);
    json_scan_fini(&finder.scan);
    if (found)
        *ret_strings = result(&finder);
    for (size_t i = 0; !found && i < finder.n; i++)
        text[(size_t)(finder.items[i].text - text) + finder.items[i].len] = '"';
    return found;
}

int json_strings_read_aside(const struct json_strings *strings, const struct json_budget *budget,
                            json_t **ret_value, struct err *err)
{
    json_error_t error;
    const struct json_cost cost = {.n_values = strings->n_aside_values};
    int r = json_cost_check(cost, budget, "", err);
    if (r < 0)
        return r;
    encoding_replace_nuls(strings->aside, strings->aside_len);
    json_t *value = json_cost_load(strings->aside, strings->aside_len, JSON_DECODE_ANY, &error);
    if (!value)
        return err_set(err, EINVAL, "%d:%d: %s", error.line, error.column, error.text);
    *ret_value = value;
    return 0;
}
