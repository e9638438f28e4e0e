/*
 * log: one line per event on standard error, as key=value or JSON.
 *
 *     LOG(LOG_WARN, "file", LOG_MSG("object left out"), LOG_STR("kind", "Node"), LOG_NUM("n", 3));
 *     ts=2026-11-21T10:00:00.000Z level=warn mod=file msg="object left out" kind=Node n=3
 *
 * Never log a token or a whole body.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };
enum log_format { LOG_KEY_VALUE, LOG_JSON };

struct log_field {
    const char *key;
    const char *text; /* NULL: number is the value */
    long long number;
};

#define LOG_STR(key, value)                                                                        \
    {                                                                                              \
        (key), (value), 0                                                                          \
    }
#define LOG_NUM(key, value)                                                                        \
    {                                                                                              \
        (key), (const char *)0, (long long)(value)                                                 \
    }
#define LOG_MSG(text)                                                                              \
    {                                                                                              \
        "msg", (text), 0                                                                           \
    }

#define LOG(level, module, ...)                                                                    \
    log_write((level), (module), (const struct log_field[]){__VA_ARGS__, {0}})

/* Call once at start, before any thread. Default: LOG_INFO, LOG_KEY_VALUE. */
void log_configure(enum log_level level, enum log_format format);
/* fields end with a NULL key. From any thread: a line is one write(2). */
void log_write(enum log_level level, const char *module, const struct log_field *fields);
/* "debug", "info", "warn", "error". 0, or -EINVAL (ret_level untouched). */
int log_level_from_name(const char *name, enum log_level *ret_level);

#endif
