/* json_scan: see json_scan.h. One function per state; each reads to the end of its state. */
#include "json_scan.h"
#include "base/mem.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t json_scan_offset_of(const struct json_scan *scan, const char *at)
{
    return scan->chunk_offset + (uint64_t)(at - scan->chunk);
}

static inline bool json_scan_is_watched(const struct json_scan *scan)
{
    return scan->depth <= scan->watch_depth;
}

static const char *wanted(const struct json_scan *scan)
{
    static const char *const WANTED[] = {
        [STATE_TOP] = "'{', where an object begins",
        [STATE_END] = "the end of the text",
        [STATE_VALUE] = "a value",
        [STATE_VALUE_OR_END] = "a value or ']'",
        [STATE_KEY] = "a key in double quotes",
        [STATE_KEY_OR_END] = "a key in double quotes or '}'",
        [STATE_COLON] = "':' after the key",
        [STATE_STRING] = "the string's closing quote, or an escape such as \\n",
        [STATE_UTF8] = "the rest of a UTF-8 character",
        [STATE_ESCAPE] = "one of \"\\/bfnrtu after the '\\'",
        [STATE_HEX] = "a hexadecimal digit",
        [STATE_LOW_SURROGATE] = "the second half of a pair (\\ud800\\udc00)",
        [STATE_NUMBER] = "a digit",
    };
    if (scan->state == STATE_LITERAL)
        return scan->literal;
    if (scan->state == STATE_AFTER_VALUE)
        return scan->brackets[scan->depth - 1] == '{' ? "',' or '}'" : "',' or ']'";
    return WANTED[scan->state];
}

static __attribute__((format(printf, 3, 4))) void
json_scan_set_fault(struct json_scan *scan, uint64_t offset, const char *format, ...)
{
    char *text = scan->fault;
    size_t size = sizeof scan->fault;
    int n = snprintf(text, size, "%zu:%zu: ", (size_t)scan->line,
                     (size_t)(offset - scan->line_offset + 1));
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text + n, size - (size_t)n, format, args);
    va_end(args);
    scan->event = SCAN_FAULT;
}

/* Reports the byte at p as a fault and returns p. */
static const char *json_scan_unwanted(struct json_scan *scan, const char *p)
{
    unsigned char c = (unsigned char)*p;
    uint64_t offset = json_scan_offset_of(scan, p);
    if (c == '\n')
        json_scan_set_fault(scan, offset, "the line ends here, should be %s", wanted(scan));
    else if (c >= 0x20 && c < 0x7f)
        json_scan_set_fault(scan, offset, "found '%c', should be %s", c, wanted(scan));
    else
        json_scan_set_fault(scan, offset, "found the byte 0x%02x, should be %s", c, wanted(scan));
    return p;
}

static void json_scan_end_value(struct json_scan *scan)
{
    scan->state = scan->depth == 0 ? scan->top : STATE_AFTER_VALUE;
    if (json_scan_is_watched(scan))
        scan->event = SCAN_VALUE_END;
}

/* The states inside a string. */

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

/* The first byte from p that is a quote, backslash, control character or not ASCII; else end. */
static const char *skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t special = word_specials(word_at(p));
        if (special)
            return p + __builtin_ctzll(special) / 8;
        p += 8;
    }
    while (p < end && is_plain((unsigned char)*p))
        p++;
    return p;
}

static const char *end_string(struct json_scan *scan, const char *p)
{
    if (!scan->is_key) {
        json_scan_end_value(scan);
        return p;
    }
    scan->state = STATE_COLON;
    if (json_scan_is_watched(scan))
        scan->event = SCAN_KEY_END;
    return p;
}

/* Ranges of RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF. */
static const char *begin_utf8(struct json_scan *scan, const char *p)
{
    unsigned char c = (unsigned char)*p;
    if (c < 0xc2 || c > 0xf4) {
        json_scan_set_fault(scan, json_scan_offset_of(scan, p),
                            "found the byte 0x%02x, should be UTF-8", c);
        return p;
    }
    scan->n_utf8 = c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
    scan->utf8_low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    scan->utf8_high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    scan->state = STATE_UTF8;
    return p + 1;
}

static const char *json_scan_utf8(struct json_scan *scan, const char *p, const char *end)
{
    for (; scan->n_utf8 > 0 && p < end; p++, scan->n_utf8--) {
        unsigned char c = (unsigned char)*p;
        if (c < scan->utf8_low || c > scan->utf8_high)
            return json_scan_unwanted(scan, p);
        scan->utf8_low = 0x80;
        scan->utf8_high = 0xbf;
    }
    if (scan->n_utf8 == 0)
        scan->state = STATE_STRING;
    return p;
}

static const char *json_scan_string(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_plain(p, end);
    if (p == end)
        return p;
    if (*p == '"')
        return end_string(scan, p + 1);
    if (*p == '\\') {
        scan->escape_offset = json_scan_offset_of(scan, p);
        scan->state = STATE_ESCAPE;
        return p + 1;
    }
    return (unsigned char)*p < 0x20 ? json_scan_unwanted(scan, p) : begin_utf8(scan, p);
}

static const char *json_scan_escape(struct json_scan *scan, const char *p, const char *end)
{
    (void)end;
    if (scan->wants_low_surrogate && *p != 'u') {
        scan->state = STATE_LOW_SURROGATE;
        return json_scan_unwanted(scan, p);
    }
    if (*p == '\0' || !strchr("\"\\/bfnrtu", *p))
        return json_scan_unwanted(scan, p);
    scan->state = *p == 'u' ? STATE_HEX : STATE_STRING;
    scan->n_hex = 4;
    scan->code = 0;
    return p + 1;
}

/* After the first half of a surrogate pair. */
static const char *json_scan_low_surrogate(struct json_scan *scan, const char *p, const char *end)
{
    (void)end;
    if (*p != '\\')
        return json_scan_unwanted(scan, p);
    scan->escape_offset = json_scan_offset_of(scan, p);
    scan->state = STATE_ESCAPE;
    return p + 1;
}

/* Called when \uXXXX is complete. */
static void end_hex(struct json_scan *scan)
{
    bool is_low = scan->code >= 0xdc00 && scan->code <= 0xdfff;
    bool is_high = scan->code >= 0xd800 && scan->code <= 0xdbff;
    if (is_low != scan->wants_low_surrogate)
        json_scan_set_fault(scan, scan->escape_offset, "\\u%04x is %s", scan->code,
                            is_low ? "the second half of a pair, without the first"
                                   : "not the second half of the pair that began before");
    scan->wants_low_surrogate = is_high;
    scan->state = is_high ? STATE_LOW_SURROGATE : STATE_STRING;
}

static const char *json_scan_hex(struct json_scan *scan, const char *p, const char *end)
{
    static const char DIGITS[] = "0123456789abcdef";
    for (; scan->n_hex > 0 && p < end; p++, scan->n_hex--) {
        const char *digit = *p ? strchr(DIGITS, *p | 0x20) : NULL;
        if (!digit || (*p < '0'))
            return json_scan_unwanted(scan, p);
        scan->code = scan->code << 4 | (unsigned)(digit - DIGITS);
    }
    if (scan->n_hex == 0)
        end_hex(scan);
    return p;
}

/* The steps of json_scan.c for text without spaces, in one loop over local variables. Most of a
 * large text is such: containers, plain strings and keys, and what separates them, below the
 * depth that is watched. */

/* Where the loop is; the rest of the scan does not change. */
struct compact_place {
    enum json_scan_state state;
    size_t depth;
    struct json_cost cost;
    const char *at;
};

/* Each returns false before what a step must read. */

static inline bool open_compact(const struct json_scan *scan, struct compact_place *place,
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
static inline bool close_compact(const struct json_scan *scan, struct compact_place *place)
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
    const char *quote = skip_plain(place->at + 1, end);
    return quote < end && *quote == '"' ? quote + 1 : NULL;
}

static inline bool read_value(const struct json_scan *scan, struct compact_place *place,
                              const char *end)
{
    const char first = *place->at;
    if (first == '{' || first == '[')
        return open_compact(scan, place, first, end);
    if (first == ']' && place->state == STATE_VALUE_OR_END)
        return close_compact(scan, place);
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
        return close_compact(scan, place);
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
        return close_compact(scan, place);
    if (*place->at != ',')
        return false;
    place->state = in_object ? STATE_KEY : STATE_VALUE;
    place->at++;
    return true;
}

/* Steps below the watched depth, while the text is compact; p < end. May read nothing. */
static const char *json_scan_compact(struct json_scan *scan, const char *p, const char *end)
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

/* The number machine (RFC 8259, section 6). */
enum {
    NUMBER_MINUS,
    NUMBER_ZERO,
    NUMBER_INT,
    NUMBER_POINT,
    NUMBER_FRACTION,
    NUMBER_E,
    NUMBER_SIGN,
    NUMBER_EXPONENT,
    N_NUMBERS
};
enum { CHAR_ZERO, CHAR_DIGIT, CHAR_POINT, CHAR_E, CHAR_MINUS, CHAR_PLUS, CHAR_OTHER, N_CHARS };
enum { NUMBER_DONE = -1, NUMBER_FAULT = -2 };

void json_scan_init(struct json_scan *scan, enum json_scan_shape shape, size_t max_depth)
{
    *scan = (struct json_scan){.line = 1, .max_depth = max_depth};
    scan->state = shape == SCAN_OBJECTS ? STATE_TOP : STATE_VALUE;
    scan->top = shape == SCAN_OBJECTS ? STATE_TOP : STATE_END;
    scan->brackets = mem_new(max_depth);
}

void json_scan_fini(struct json_scan *scan)
{
    free(scan->brackets);
}

void json_scan_piece(struct json_scan *scan, const char *bytes)
{
    scan->chunk = bytes;
}

void json_scan_piece_done(struct json_scan *scan, const char *end)
{
    scan->chunk_offset += (uint64_t)(end - scan->chunk);
    scan->chunk = end;
}

struct text_position json_scan_position(const struct json_scan *scan, const char *at)
{
    return (struct text_position){scan->line,
                                  json_scan_offset_of(scan, at) - scan->line_offset + 1};
}

/* ---- faults ---- */

int json_scan_fault(const struct json_scan *scan, struct err *err)
{
    return err_set(err, EINVAL, "%s", scan->fault);
}

/* ---- white space and structure ---- */

static const char *skip_space(struct json_scan *scan, const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p == '\n') {
            scan->line++;
            scan->line_offset = json_scan_offset_of(scan, p) + 1;
            while (end - p > 8 && word_at(p + 1) == WORD_ONES * ' ')
                p += 8;
        } else if (*p != ' ' && *p != '\t' && *p != '\r') {
            break;
        }
    }
    return p;
}

/* Counts a value that begins. */
static void count(struct json_scan *scan, size_t n_bytes)
{
    scan->cost.n_values++;
    scan->cost.n_bytes += n_bytes;
}

static const char *open_container(struct json_scan *scan, const char *p)
{
    if (scan->depth == scan->max_depth) {
        json_scan_set_fault(scan, json_scan_offset_of(scan, p), "nested deeper than %zu levels",
                            scan->max_depth);
        return p;
    }
    count(scan, *p == '{' ? JSON_COST_OBJECT : JSON_COST_ARRAY);
    scan->brackets[scan->depth++] = *p;
    scan->state = *p == '{' ? STATE_KEY_OR_END : STATE_VALUE_OR_END;
    return p + 1;
}

static const char *close_container(struct json_scan *scan, const char *p)
{
    scan->depth--;
    json_scan_end_value(scan);
    return p + 1;
}

static const char *open_string(struct json_scan *scan, const char *p, const char *end, bool is_key)
{
    scan->is_key = is_key;
    scan->state = STATE_STRING;
    if (is_key)
        scan->cost.n_bytes += JSON_COST_KEY;
    else
        count(scan, JSON_COST_STRING);
    if (json_scan_is_watched(scan)) {
        scan->event = is_key ? SCAN_KEY_BEGIN : SCAN_VALUE_BEGIN;
        return p + 1;
    }
    return json_scan_string(scan, p + 1, end);
}

static const char *open_literal(struct json_scan *scan, const char *p, const char *word)
{
    count(scan, JSON_COST_LITERAL);
    scan->literal = word;
    scan->literal_rest = word + 1;
    scan->state = STATE_LITERAL;
    return p + 1;
}

static const char *open_number(struct json_scan *scan, const char *p)
{
    count(scan, JSON_COST_NUMBER);
    scan->number = *p == '-' ? NUMBER_MINUS : *p == '0' ? NUMBER_ZERO : NUMBER_INT;
    scan->state = STATE_NUMBER;
    return p + 1;
}

/* Starts a value other than a string; NULL: the byte starts no value. */
static const char *open_other(struct json_scan *scan, const char *p)
{
    switch (*p) {
    case '{':
    case '[':
        return open_container(scan, p);
    case 't':
        return open_literal(scan, p, "true");
    case 'f':
        return open_literal(scan, p, "false");
    case 'n':
        return open_literal(scan, p, "null");
    default:
        return *p == '-' || (*p >= '0' && *p <= '9') ? open_number(scan, p) : NULL;
    }
}

static const char *step_value(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    if (p == end)
        return p;
    if (*p == '"')
        return open_string(scan, p, end, false);
    if (*p == ']' && scan->state == STATE_VALUE_OR_END)
        return close_container(scan, p);
    bool watched = json_scan_is_watched(scan);
    const char *next = open_other(scan, p);
    if (!next)
        return json_scan_unwanted(scan, p);
    if (watched && scan->event == SCAN_MORE)
        scan->event = SCAN_VALUE_BEGIN;
    return next;
}

static const char *step_top(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    if (p == end)
        return p;
    return *p == '{' ? step_value(scan, p, end) : json_scan_unwanted(scan, p);
}

static const char *step_end(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    return p == end ? p : json_scan_unwanted(scan, p);
}

static const char *step_key(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    if (p == end)
        return p;
    if (*p == '"')
        return open_string(scan, p, end, true);
    if (*p == '}' && scan->state == STATE_KEY_OR_END)
        return close_container(scan, p);
    return json_scan_unwanted(scan, p);
}

static const char *step_colon(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    if (p == end)
        return p;
    if (*p != ':')
        return json_scan_unwanted(scan, p);
    scan->state = STATE_VALUE;
    return p + 1;
}

static const char *step_after_value(struct json_scan *scan, const char *p, const char *end)
{
    p = skip_space(scan, p, end);
    if (p == end)
        return p;
    bool in_object = scan->brackets[scan->depth - 1] == '{';
    if (*p == (in_object ? '}' : ']'))
        return close_container(scan, p);
    if (*p != ',')
        return json_scan_unwanted(scan, p);
    scan->state = in_object ? STATE_KEY : STATE_VALUE;
    return p + 1;
}

/* ---- literals and numbers ---- */

static const char *step_literal(struct json_scan *scan, const char *p, const char *end)
{
    for (; *scan->literal_rest && p < end; p++, scan->literal_rest++)
        if (*p != *scan->literal_rest)
            return json_scan_unwanted(scan, p);
    if (!*scan->literal_rest)
        json_scan_end_value(scan);
    return p;
}

static int number_char(char c)
{
    if (c >= '0' && c <= '9')
        return c == '0' ? CHAR_ZERO : CHAR_DIGIT;
    if (c == 'e' || c == 'E')
        return CHAR_E;
    return c == '.' ? CHAR_POINT : c == '-' ? CHAR_MINUS : c == '+' ? CHAR_PLUS : CHAR_OTHER;
}

/* Per state: 0, 1 to 9, point, e, minus, plus, other. */
#define FAULT NUMBER_FAULT
#define DONE NUMBER_DONE
static const int NUMBER_NEXT[N_NUMBERS][N_CHARS] = {
    [NUMBER_MINUS] = {NUMBER_ZERO, NUMBER_INT, FAULT, FAULT, FAULT, FAULT, FAULT},
    [NUMBER_ZERO] = {FAULT, FAULT, NUMBER_POINT, NUMBER_E, DONE, DONE, DONE},
    [NUMBER_INT] = {NUMBER_INT, NUMBER_INT, NUMBER_POINT, NUMBER_E, DONE, DONE, DONE},
    [NUMBER_POINT] = {NUMBER_FRACTION, NUMBER_FRACTION, FAULT, FAULT, FAULT, FAULT, FAULT},
    [NUMBER_FRACTION] = {NUMBER_FRACTION, NUMBER_FRACTION, DONE, NUMBER_E, DONE, DONE, DONE},
    [NUMBER_E] = {NUMBER_EXPONENT, NUMBER_EXPONENT, FAULT, FAULT, NUMBER_SIGN, NUMBER_SIGN, FAULT},
    [NUMBER_SIGN] = {NUMBER_EXPONENT, NUMBER_EXPONENT, FAULT, FAULT, FAULT, FAULT, FAULT},
    [NUMBER_EXPONENT] = {NUMBER_EXPONENT, NUMBER_EXPONENT, DONE, DONE, DONE, DONE, DONE},
};

static const char *step_number(struct json_scan *scan, const char *p, const char *end)
{
    for (; p < end; p++) {
        int next = NUMBER_NEXT[scan->number][number_char(*p)];
        if (next == NUMBER_FAULT)
            return json_scan_unwanted(scan, p);
        if (next == NUMBER_DONE) {
            json_scan_end_value(scan);
            break;
        }
        scan->number = next;
    }
    return p;
}

/* ---- all states ---- */

enum json_scan_event json_scan_run(struct json_scan *scan, const char **at, const char *end)
{
    static const char *(*const STEPS[])(struct json_scan *, const char *, const char *) = {
        [STATE_TOP] = step_top,
        [STATE_END] = step_end,
        [STATE_VALUE] = step_value,
        [STATE_VALUE_OR_END] = step_value,
        [STATE_KEY] = step_key,
        [STATE_KEY_OR_END] = step_key,
        [STATE_COLON] = step_colon,
        [STATE_AFTER_VALUE] = step_after_value,
        [STATE_STRING] = json_scan_string,
        [STATE_UTF8] = json_scan_utf8,
        [STATE_ESCAPE] = json_scan_escape,
        [STATE_HEX] = json_scan_hex,
        [STATE_LOW_SURROGATE] = json_scan_low_surrogate,
        [STATE_LITERAL] = step_literal,
        [STATE_NUMBER] = step_number,
    };
    const char *p = *at;
    scan->event = SCAN_MORE;
    while (p < end && scan->event == SCAN_MORE) {
        if (!json_scan_is_watched(scan))
            p = json_scan_compact(scan, p, end);
        if (p < end)
            p = STEPS[scan->state](scan, p, end);
    }
    *at = p;
    return scan->event;
}

enum json_scan_event json_scan_end(struct json_scan *scan)
{
    scan->event = SCAN_MORE;
    /* A number normally ends at the byte after it; here there is none. */
    if (scan->state == STATE_NUMBER && NUMBER_NEXT[scan->number][CHAR_OTHER] == NUMBER_DONE)
        json_scan_end_value(scan);
    if (scan->state != scan->top)
        json_scan_set_fault(scan, scan->chunk_offset, "the text ends here, should be %s",
                            wanted(scan));
    return scan->event;
}
