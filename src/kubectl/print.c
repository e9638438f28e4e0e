/* print: see verbs.h. */
#include "api/tables.h"
#include "base/mem.h"
#include "formats/json_values.h"
#include "source.h"
#include "verbs.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool print_has_colour(void)
{
    const char *no_colour = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return !(no_colour && *no_colour) && !(terminal && strcmp(terminal, "dumb") == 0) &&
           isatty(STDOUT_FILENO);
}

size_t print_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size = {0};
    size_t n = columns ? strtoul(columns, NULL, 10) : 0;
    if (n == 0 && ioctl(fd, TIOCGWINSZ, &size) == 0)
        n = size.ws_col;
    if (n == 0)
        return 0;
    return n < TABLES_WIDTH_LEAST  ? TABLES_WIDTH_LEAST
           : n > TABLES_WIDTH_MOST ? TABLES_WIDTH_MOST
                                   : n;
}

int print_text(const struct session *session, struct buf *out, int status)
{
    const bool is_written =
        fwrite(buf_text(out), 1, out->len, stdout) == out->len && fflush(stdout) == 0;
    buf_fini(out);
    return is_written
               ? status
               : session_complain(session, "standard output cannot be written", EXIT_NO_ANSWER);
}

static void add_name(const char *kind, const json_t *object, struct buf *out)
{
    const char *of_object = "";
    const char *name = "";
    (void)json_get_string(object, "kind", &of_object, NULL);
    (void)json_get_string(object, "name", &name, NULL);
    if (!*name) /* a decision has its pod's */
        (void)json_get_string(json_member(object, "pod"), "name", &name, NULL);
    for (const char *at = kind ? kind : of_object; *at; at++)
        buf_printf(out, "%c", tolower((unsigned char)*at));
    buf_add_text(out, "/");
    buf_add_one_line(out, name);
    buf_add_text(out, "\n");
}

static void add_names(const struct print_names *names, const json_t *answer, struct buf *out)
{
    size_t i = 0;
    json_t *item = NULL;
    const json_t *list = json_member(answer, names->list);
    if (json_is_object(list))
        add_name(names->kind, list, out);
    json_array_foreach (list, i, item)
        add_name(names->kind, item, out);
}

static void add_json(const json_t *answer, struct buf *out)
{
    size_t len = 0;
    char *text CLEANUP(mem_free_ptr) =
        json_take_text(json_incref((json_t *)(uintptr_t)answer), JSON_INDENT(1), &len);
    shown_add_json(text, out);
}

static void add_table(const struct session *session, const json_t *answer, print_table *write,
                      bool with_headings, struct buf *out)
{
    const bool wide = session->arguments.form == FORM_WIDE;
    const struct shown_style style = {
        .has_headings = with_headings && !session->arguments.no_headers,
        .has_colour = print_has_colour(),
    };
    struct buf table;
    buf_init(&table, SOURCE_BYTES_MAX);
    tables_mark_headings();
    tables_set_width(print_width(STDOUT_FILENO));
    write(answer, wide, session->arena, &table);
    shown_add_table(buf_text(&table), &style, out);
    buf_fini(&table);
}

int print_answer(const struct session *session, const json_t *answer, print_table *write,
                 const struct print_names *names, bool with_headings, int status)
{
    struct buf out;
    buf_init(&out, BUF_UNBOUNDED); /* a bounded answer */
    switch (session->arguments.form) {
    case FORM_TABLE:
    case FORM_WIDE:
        add_table(session, answer, write, with_headings, &out);
        break;
    case FORM_JSON:
        add_json(answer, &out);
        break;
    case FORM_YAML:
        shown_add_yaml(answer, &out);
        break;
    case FORM_NAME:
        add_names(names, answer, &out);
        break;
    }
    return print_text(session, &out, status);
}
