/* json_strings: see include/formats/json_strings.h. */
#include "formats/json_strings.h"

#include "json_scan.h"

#include <string.h>

#define MAX_DEPTH ((size_t)1000)

struct finder {
    struct json_scan scan;
    struct arena *arena;
    char *text; /* a copy, into which NULs are written to end strings */
    const char *key;
    char *begin; /* the list with its brackets; NULL until found */
    char *end;
    char *mark;      /* first byte of the current key or item */
    bool is_the_key; /* the current member has the key */
    bool is_inside;  /* inside the list */
    const char **items;
    size_t n;
    size_t size; /* capacity of items */
};

static void add_item(struct finder *finder, const char *item)
{
    if (finder->n == finder->size) {
        const size_t size = finder->size ? finder->size * 2 : 64;
        const char **items = ARENA_ARRAY_UNSET(finder->arena, const char *, size);
        if (finder->n > 0)
            memcpy(items, finder->items, finder->n * sizeof *items);
        finder->items = items;
        finder->size = size;
    }
    finder->items[finder->n++] = item;
}

/* Whether the string from the mark to its closing quote has no escapes. */
static bool has_no_escape(const struct finder *finder, const char *quote)
{
    return !memchr(finder->mark, '\\', (size_t)(quote - finder->mark));
}

static bool end_key(struct finder *finder, const char *quote)
{
    const size_t len = (size_t)(quote - finder->mark);
    finder->is_the_key = strlen(finder->key) == len && memcmp(finder->key, finder->mark, len) == 0;
    return has_no_escape(finder, quote);
}

static bool begin_value(struct finder *finder, char *first)
{
    finder->mark = first + 1;
    if (finder->is_inside)
        return *first == '"';
    if (!finder->is_the_key)
        return true;
    if (*first != '[' || finder->begin)
        return false;
    finder->begin = first;
    finder->is_inside = true;
    finder->scan.watch_depth = 2;
    return true;
}

/* after: the first byte after the value. */
static bool end_value(struct finder *finder, char *after)
{
    if (!finder->is_inside)
        return true;
    if (finder->scan.depth == 1) {
        finder->end = after;
        finder->is_inside = false;
        finder->scan.watch_depth = 1;
        return true;
    }
    if (!has_no_escape(finder, after - 1))
        return false;
    add_item(finder, finder->mark);
    after[-1] = '\0';
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

/* Takes items separated by a comma only. at: after an item; the scan would be in the same state
 * after the last one taken. */
static char *take_plain_items(struct finder *finder, char *at, const char *end)
{
    while (end - at > 2 && at[0] == ',' && at[1] == '"') {
        char *item = at + 2;
        char *quote = item + (json_scan_skip_plain(item, end) - item);
        if (quote == end || *quote != '"')
            break;
        add_item(finder, item);
        *quote = '\0';
        at = quote + 1;
    }
    return at;
}

static bool find(struct finder *finder, size_t len)
{
    const char *at = finder->text;
    const char *end = finder->text + len;
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
    return json_scan_end(&finder->scan) != SCAN_FAULT && finder->end;
}

static struct json_strings result(const struct finder *finder, size_t len)
{
    const size_t n_before = (size_t)(finder->begin - finder->text);
    const size_t n_behind = (size_t)(finder->text + len - finder->end);
    char *rest = arena_alloc_unset(finder->arena, n_before + 2 + n_behind);
    memcpy(rest, finder->text, n_before);
    rest[n_before] = '[';
    rest[n_before + 1] = ']';
    memcpy(rest + n_before + 2, finder->end, n_behind);
    return (struct json_strings){finder->items, finder->n, rest, n_before + 2 + n_behind};
}

bool json_strings_take(const char *text, size_t len, const char *key, struct arena *arena,
                       struct json_strings *ret_strings)
{
    struct finder finder = {.arena = arena, .key = key, .text = arena_alloc_unset(arena, len + 1)};
    if (len > 0)
        memcpy(finder.text, text, len);
    finder.text[len] = '\0';
    finder.items = ARENA_NEW(arena, const char *);
    json_scan_init(&finder.scan, SCAN_ONE_VALUE, MAX_DEPTH);
    finder.scan.watch_depth = 1;
    const bool found = find(&finder, len);
    json_scan_fini(&finder.scan);
    if (found)
        *ret_strings = result(&finder, len);
    return found;
}
