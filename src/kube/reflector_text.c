/* reflector_text: what a reflector tells people of a failure: one printable line of ASCII. */
#include "formats/json_get.h"
#include "reflector_priv.h"

#include <stdio.h>
#include <string.h>

#define SHOWN_MAX 200

/* Of the text, what can be shown. */
static void make_printable(const char *text, char *shown)
{
    size_t n = strnlen(text, SHOWN_MAX);
    for (size_t i = 0; i < n; i++) {
        bool blank = text[i] == '\n' || text[i] == '\r' || text[i] == '\t';
        bool plain = text[i] >= ' ' && text[i] <= '~';
        shown[i] = blank ? ' ' : text[i];
        if (!blank && !plain)
            shown[i] = '?';
    }
    shown[n] = '\0';
}

static void set(struct reflector *reflector, enum reflector_trouble trouble, const char *number,
                const char *text)
{
    char shown[SHOWN_MAX + 1];
    bool is_watch = reflector->step == STEP_WATCH || reflector->step == STEP_REWATCH;
    make_printable(text, shown);
    (void)snprintf(reflector->why, sizeof reflector->why, "%s %s: %s%s%s",
                   is_watch ? "watch" : "GET", reflector->settings.kind->path, number,
                   number[0] && shown[0] ? ": " : "", shown);
    reflector->status.why = reflector->why;
    reflector->status.trouble = trouble;
    reflector->is_dirty = true;
    reflector->told_of_watch = is_watch;
    if (told_is_news(&reflector->told, reflector->why))
        reflector->status.is_news = true;
}

static enum reflector_trouble trouble_of(unsigned status)
{
    return status == 401 || status == 403 ? TROUBLE_REFUSED : TROUBLE_FAILED;
}

void reflector_say(struct reflector *reflector, enum reflector_trouble trouble, const char *what)
{
    set(reflector, trouble, "", what);
}

void reflector_say_refused(struct reflector *reflector, const char *why)
{
    set(reflector, TROUBLE_REFUSED, "401", why);
}

static const char *message_of(const json_t *status)
{
    const char *message = json_string_value(json_member(status, "message"));
    return message ? message : "";
}

void reflector_say_status(struct reflector *reflector)
{
    const struct flight *flight = &reflector->flight;
    const char *text = buf_text(&flight->error_body);
    char number[16];
    json_t *status = NULL;
    (void)snprintf(number, sizeof number, "%u", flight->status);
    int r = json_parse(text, flight->error_body.len, 0, &status, NULL);
    set(reflector, trouble_of(flight->status), number, r == 0 ? message_of(status) : text);
    if (r == 0)
        json_decref(status);
}

void reflector_say_error(struct reflector *reflector, const json_t *status)
{
    char number[32];
    (void)snprintf(number, sizeof number, "ERROR %u", reflector->event_code);
    set(reflector, trouble_of(reflector->event_code), number, message_of(status));
}

void reflector_say_nothing(struct reflector *reflector)
{
    reflector->status.why = NULL;
    reflector->status.trouble = TROUBLE_NONE;
    reflector->status.is_news = false;
    if (!reflector->told_of_watch)
        told_forget(&reflector->told);
}

void reflector_watch_works(struct reflector *reflector)
{
    told_forget(&reflector->told);
}
