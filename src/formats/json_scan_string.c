/* json_scan_string: the states inside a string (json_scan.h). */
#include "json_scan_priv.h"

/* Sets the top bit of each byte that is a quote, a backslash, a control character or not ASCII;
 * exact up to the lowest such byte. */
static uint64_t special_bytes(uint64_t word)
{
    uint64_t quote = word ^ (JSON_SCAN_ONES * '"');
    uint64_t backslash = word ^ (JSON_SCAN_ONES * '\\');
    uint64_t found = ((quote - JSON_SCAN_ONES) & ~quote) |
                     ((backslash - JSON_SCAN_ONES) & ~backslash) |
                     ((word - JSON_SCAN_ONES * 0x20) & ~word) | word;
    return found & JSON_SCAN_HIGHS;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

const char *json_scan_skip_plain(const char *p, const char *end)
{
    while (end - p >= 8) {
        uint64_t special = special_bytes(json_scan_word_at(p));
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

const char *json_scan_utf8(struct json_scan *scan, const char *p, const char *end)
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

const char *json_scan_string(struct json_scan *scan, const char *p, const char *end)
{
    p = json_scan_skip_plain(p, end);
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

const char *json_scan_escape(struct json_scan *scan, const char *p, const char *end)
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
const char *json_scan_low_surrogate(struct json_scan *scan, const char *p, const char *end)
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

const char *json_scan_hex(struct json_scan *scan, const char *p, const char *end)
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
