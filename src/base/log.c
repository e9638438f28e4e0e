/* log: builds the whole line, then writes it at once. See include/base/log.h. */
#include "base/log.h"
#include "base/buf.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Longer values are truncated, so foreign data cannot hide the end of a line. */
#define VALUE_SHOWN_BYTES ((size_t)1024)
#define CUT "..."

static const char *const LEVEL_NAMES[] = {
    [LOG_DEBUG] = "debug", [LOG_INFO] = "info", [LOG_WARN] = "warn", [LOG_ERROR] = "error"};
#define N_LEVELS (sizeof LEVEL_NAMES / sizeof *LEVEL_NAMES)

static enum log_level lowest_level = LOG_INFO;
static enum log_format line_format = LOG_KEY_VALUE;

void log_configure(enum log_level level, enum log_format format)
{
    lowest_level = level;
    line_format = format;
}

int log_level_from_name(const char *name, enum log_level *ret_level)
{
    for (size_t i = 0; i < N_LEVELS; i++) {
        if (strcmp(name, LEVEL_NAMES[i]) == 0) {
            *ret_level = (enum log_level)i;
            return 0;
        }
    }
    return -EINVAL;
}

static void timestamp(char *text, size_t size)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    struct tm utc;
    (void)gmtime_r(&now.tv_sec, &utc);
    char seconds[32];
    (void)strftime(seconds, sizeof seconds, "%Y-%m-%dT%H:%M:%S", &utc);
    struct buf line;
    buf_init(&line, size - 1);
    buf_printf(&line, "%s.%03ldZ", seconds, now.tv_nsec / 1000000);
    (void)strncpy(text, buf_text(&line), size - 1);
    buf_fini(&line);
}

/* No field separators, no control characters of a terminal. */
static bool is_plain(const char *text)
{
    for (const char *p = text; *p; p++) {
        if (*p <= ' ' || *p > '~' || strchr("\"=\\", *p))
            return false;
    }
    return *text != '\0';
}

/* The text itself, or its truncated copy in cut. */
static const char *shown(const char *text, char cut[VALUE_SHOWN_BYTES + sizeof CUT])
{
    size_t len = strnlen(text, VALUE_SHOWN_BYTES + 1);
    if (len <= VALUE_SHOWN_BYTES)
        return text;
    len = VALUE_SHOWN_BYTES;
    while (len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80) /* not inside a character */
        len--;
    memcpy(cut, text, len);
    memcpy(cut + len, CUT, sizeof CUT);
    return cut;
}

static void add_text(struct buf *line, const char *text)
{
    if (line_format == LOG_KEY_VALUE && is_plain(text))
        buf_add_text(line, text);
    else
        buf_add_quoted(line, text);
}

static void add_field(struct buf *line, const char *key, const struct log_field *value)
{
    char cut[VALUE_SHOWN_BYTES + sizeof CUT];
    if (line->len > 1)
        buf_add_text(line, line_format == LOG_JSON ? "," : " ");
    if (line_format == LOG_JSON) {
        buf_add_quoted(line, key);
        buf_add_text(line, ":");
    } else {
        buf_printf(line, "%s=", key);
    }
    if (!value->text)
        buf_printf(line, "%lld", value->number);
    else
        add_text(line, shown(value->text, cut));
}

void log_write(enum log_level level, const char *module, const struct log_field *fields)
{
    if (level < lowest_level)
        return;
    char now[40] = "";
    timestamp(now, sizeof now);
    struct buf line;
    buf_init(&line, BUF_UNBOUNDED); /* a line has few fields */
    if (line_format == LOG_JSON)
        buf_add_text(&line, "{");
    add_field(&line, "ts", &(struct log_field)LOG_STR("", now));
    add_field(&line, "level", &(struct log_field)LOG_STR("", LEVEL_NAMES[level]));
    add_field(&line, "mod", &(struct log_field)LOG_STR("", module));
    for (const struct log_field *field = fields; field->key; field++)
        add_field(&line, field->key, field);
    buf_add_text(&line, line_format == LOG_JSON ? "}\n" : "\n");
    ssize_t written = write(STDERR_FILENO, line.data, line.len);
    (void)written; /* there is no other place to report it */
    buf_fini(&line);
}
