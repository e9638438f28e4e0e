/*
 * json_scan_compact: the steps of json_scan.c for text without spaces, in one loop over local
 * variables. Most of a large text is such: containers, plain strings and keys, and what separates
 * them, below the depth that is watched.
 */
#include "json_scan_priv.h"

/* Where the loop is; the rest of the scan does not change. */
struct compact_place {
    enum json_scan_state state;
    size_t depth;
    struct json_cost cost;
    const char *at;
};

/* Each returns false before what a step must read. */

static inline bool open_container(const struct json_scan *scan, struct compact_place *place,
                                  char bracket, const char *end)
{
    if (place->depth == scan->max_depth)
        return false;
    place->cost.n_values++;
    place->cost.n_bytes += bracket == '{' ? JSON_COST_OBJECT : JSON_COST_ARRAY;
    place->at++;
    if (place->at < end && *place->at == (bracket == '{' ? '}' : ']')) {
        place->at++;
        place->state = STATE_AFTER_VALUE;
        return true;
    }
    scan->brackets[place->depth++] = bracket;
    place->state = bracket == '{' ? STATE_KEY_OR_END : STATE_VALUE_OR_END;
    return true;
}

/* A step reports the end of a watched one. */
static inline bool close_container(const struct json_scan *scan, struct compact_place *place)
{
    if (place->depth <= scan->watch_depth + 1)
        return false;
    place->depth--;
    place->state = STATE_AFTER_VALUE;
    place->at++;
    return true;
}

/* After the closing quote, or NULL. */
static inline const char *pass_string(const struct compact_place *place, const char *end)
{
    const char *quote = json_scan_skip_plain(place->at + 1, end);
    return quote < end && *quote == '"' ? quote + 1 : NULL;
}

static inline bool read_value(const struct json_scan *scan, struct compact_place *place,
                              const char *end)
{
    const char first = *place->at;
    if (first == '{' || first == '[')
        return open_container(scan, place, first, end);
    if (first == ']' && place->state == STATE_VALUE_OR_END)
        return close_container(scan, place);
    const char *after = first == '"' ? pass_string(place, end) : NULL;
    if (!after)
        return false;
    place->cost.n_values++;
    place->cost.n_bytes += JSON_COST_STRING;
    place->state = STATE_AFTER_VALUE;
    place->at = after;
    return true;
}

static inline bool read_key(const struct json_scan *scan, struct compact_place *place,
                            const char *end)
{
    if (*place->at == '}' && place->state == STATE_KEY_OR_END)
        return close_container(scan, place);
    const char *after = *place->at == '"' ? pass_string(place, end) : NULL;
    if (!after || after == end || *after != ':')
        return false;
    place->cost.n_bytes += JSON_COST_KEY;
    place->state = STATE_VALUE;
    place->at = after + 1;
    return true;
}

static inline bool read_separator(const struct json_scan *scan, struct compact_place *place)
{
    const bool in_object = scan->brackets[place->depth - 1] == '{';
    if (*place->at == (in_object ? '}' : ']'))
        return close_container(scan, place);
    if (*place->at != ',')
        return false;
    place->state = in_object ? STATE_KEY : STATE_VALUE;
    place->at++;
    return true;
}

const char *json_scan_compact(struct json_scan *scan, const char *p, const char *end)
{
    struct compact_place place = {scan->state, scan->depth, scan->cost, p};
    bool goes_on = true;
    while (goes_on && place.at < end) {
        if (place.state == STATE_AFTER_VALUE)
            goes_on = read_separator(scan, &place);
        else if (place.state == STATE_VALUE || place.state == STATE_VALUE_OR_END)
            goes_on = read_value(scan, &place, end);
        else if (place.state == STATE_KEY || place.state == STATE_KEY_OR_END)
            goes_on = read_key(scan, &place, end);
        else
            goes_on = false;
    }
    scan->state = place.state;
    scan->depth = place.depth;
    scan->cost = place.cost;
    return place.at;
}
