/*
 * json_scan_priv: shared by json_scan.c (structure, numbers, literals), json_scan_string.c, and
 * json_scan_compact.c.
 *
 * A step reads from p to the end of its state, sets the next state (and an event), and returns the
 * first unread byte.
 */
#ifndef FORMATS_JSON_SCAN_PRIV_H
#define FORMATS_JSON_SCAN_PRIV_H

#include "json_scan.h"

#include <endian.h>
#include <string.h>

#define JSON_SCAN_ONES 0x0101010101010101U
#define JSON_SCAN_HIGHS (JSON_SCAN_ONES * 0x80)

static inline uint64_t json_scan_word_at(const char *p)
{
    uint64_t word;
    memcpy(&word, p, sizeof word);
    return le64toh(word);
}

static inline uint64_t json_scan_offset_of(const struct json_scan *scan, const char *at)
{
    return scan->chunk_offset + (uint64_t)(at - scan->chunk);
}

static inline bool json_scan_is_watched(const struct json_scan *scan)
{
    return scan->depth <= scan->watch_depth;
}

void json_scan_set_fault(struct json_scan *scan, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Reports the byte at p as a fault and returns p. */
const char *json_scan_unwanted(struct json_scan *scan, const char *p);
void json_scan_end_value(struct json_scan *scan);

/* Steps below the watched depth, while the text is compact; p < end. May read nothing. */
const char *json_scan_compact(struct json_scan *scan, const char *p, const char *end);
const char *json_scan_string(struct json_scan *scan, const char *p, const char *end);
const char *json_scan_utf8(struct json_scan *scan, const char *p, const char *end);
const char *json_scan_escape(struct json_scan *scan, const char *p, const char *end);
const char *json_scan_hex(struct json_scan *scan, const char *p, const char *end);
const char *json_scan_low_surrogate(struct json_scan *scan, const char *p, const char *end);

#endif
