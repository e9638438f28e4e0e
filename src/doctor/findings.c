/* findings: see findings.h. */
#include "doctor/findings.h"

#include "base/err.h"
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define SEEN_MAX 1024

static const char *const LEVEL_NAMES[N_FINDING_LEVELS] = {"ok", "warn", "fail"};

struct finding {
    enum finding_level level;
    char *check;
    char *seen;
    char *advice; /* "": nothing to do */
};

struct findings {
    struct finding list[FINDINGS_MAX];
    size_t n;
    size_t n_not_checked;
    size_t counts[N_FINDING_LEVELS]; /* also of those that were left out */
};

struct findings *findings_new(void)
{
    return MEM_NEW(struct findings);
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    for (size_t i = 0; i < findings->n; i++) {
        free(findings->list[i].check);
        free(findings->list[i].seen);
        free(findings->list[i].advice);
    }
    free(findings);
}

/* A control character could end the line, or change what a terminal shows of it. */
static char *one_line(const char *text)
{
    char *copy = mem_strdup(text);
    for (char *p = copy; *p; p++) {
        if ((unsigned char)*p < ' ' || *p == '\x7f')
            *p = ' ';
    }
    return copy;
}

static void add(struct findings *findings, enum finding_level level, const char *check,
                const char *advice, const char *seen)
{
    findings->counts[level]++;
    if (findings->n == FINDINGS_MAX)
        return;
    findings->list[findings->n++] =
        (struct finding){level, mem_strdup(check), one_line(seen), one_line(advice)};
}

void findings_add(struct findings *findings, enum finding_level level, const char *check,
                  const char *advice, const char *format, ...)
{
    char seen[SEEN_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(seen, sizeof seen, format, args);
    va_end(args);
    add(findings, level, check, advice, seen);
}

void findings_not_checked(struct findings *findings, const char *check, const char *advice,
                          const char *format, ...)
{
    char why[SEEN_MAX];
    char seen[SEEN_MAX + sizeof "not checked: "];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(why, sizeof why, format, args);
    va_end(args);
    findings->n_not_checked++;
    (void)snprintf(seen, sizeof seen, "not checked: %s", why);
    add(findings, FINDING_WARN, check, advice, seen);
}

bool findings_has_fail(const struct findings *findings)
{
    return findings->counts[FINDING_FAIL] > 0;
}

static size_t count_left_out(const struct findings *findings)
{
    size_t n = 0;
    for (size_t level = 0; level < N_FINDING_LEVELS; level++)
        n += findings->counts[level];
    return n - findings->n;
}

void findings_write_text(const struct findings *findings, struct buf *out)
{
    for (size_t i = 0; i < findings->n; i++) {
        const struct finding *finding = &findings->list[i];
        buf_printf(out, "%-4s  %s: %s", LEVEL_NAMES[finding->level], finding->check, finding->seen);
        if (*finding->advice)
            buf_printf(out, "; %s", finding->advice);
        buf_add_text(out, "\n");
    }
    const size_t n_left_out = count_left_out(findings);
    if (n_left_out > 0)
        buf_printf(out, "%zu more findings are left out\n", n_left_out);
    buf_printf(out, "%zu ok, %zu warn (%zu of them not checked), %zu fail\n",
               findings->counts[FINDING_OK], findings->counts[FINDING_WARN],
               findings->n_not_checked, findings->counts[FINDING_FAIL]);
}

static void add_finding(const struct finding *finding, struct buf *out)
{
    buf_add_text(out, "{\"level\": ");
    buf_add_quoted(out, LEVEL_NAMES[finding->level]);
    buf_add_text(out, ", \"check\": ");
    buf_add_quoted(out, finding->check);
    buf_add_text(out, ", \"seen\": ");
    buf_add_quoted(out, finding->seen);
    buf_add_text(out, ", \"advice\": ");
    buf_add_quoted(out, finding->advice);
    buf_add_text(out, "}");
}

void findings_write_json(const struct findings *findings, struct buf *out)
{
    buf_add_text(out, "{\"findings\": [");
    for (size_t i = 0; i < findings->n; i++) {
        buf_add_text(out, i > 0 ? ",\n  " : "\n  ");
        add_finding(&findings->list[i], out);
    }
    buf_printf(out,
               "\n], \"ok\": %zu, \"warn\": %zu, \"fail\": %zu, \"notChecked\": %zu, "
               "\"leftOut\": %zu}\n",
               findings->counts[FINDING_OK], findings->counts[FINDING_WARN],
               findings->counts[FINDING_FAIL], findings->n_not_checked, count_left_out(findings));
}
