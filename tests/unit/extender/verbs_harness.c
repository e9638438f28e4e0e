/* verbs_harness: see verbs_harness.h. */
#include "verbs_harness.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void verbs_init(struct verbs *verbs)
{
    void *harness = NULL;
    assert_int_equal(bind_harness_setup(&harness), 0);
    verbs->harness = harness;
    verbs->extender = (struct extender){.inventory = verbs->harness->live.inventory,
                                        .binds = verbs->harness->binds};
}

void verbs_fini(struct verbs *verbs)
{
    void *harness = verbs->harness;
    assert_int_equal(bind_harness_teardown(&harness), 0);
}

struct exchange *begin(struct verbs *verbs, handle_exchange *handle, const char *question)
{
    char *body = quotes(question);
    const struct fake_question asked = {.body = body, .len = strlen(body)};
    struct exchange *exchange = fake_begin(handle, &verbs->extender, &asked);
    free(body);
    return exchange;
}

void end(struct exchange *exchange, const char *expected)
{
    char *text = quotes(expected);
    assert_true(fake_is_answered(exchange));
    struct fake_answer answer = fake_end(exchange);
    assert_string_equal(answer.body, text);
    assert_int_equal(answer.status, 200);
    fake_answer_fini(&answer);
    free(text);
}

void check_counted(const struct verbs *verbs, const char *metric, unsigned times)
{
    char wanted[100];
    struct buf text;
    buf_init(&text, (size_t)64 * 1024);
    extender_metrics(&verbs->extender, &text);
    (void)snprintf(wanted, sizeof wanted, "\ngpu_extender_%s %u\n", metric, times);
    if (!strstr(buf_text(&text), wanted))
        fail_msg("no line %s in %s", wanted, buf_text(&text));
    buf_fini(&text);
}
