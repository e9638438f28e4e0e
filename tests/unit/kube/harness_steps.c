/* harness_steps: see harness_steps.h. */
#include "harness_steps.h"

#include "scripts.h"

#include <string.h>

void harness_step_init(struct harness *harness)
{
    harness_init(harness, NULL);
}

void harness_step_sleep(struct harness *harness, const struct harness_step *step)
{
    harness->now_ms += step->number;
}

void harness_step_quiet(struct harness *harness, const struct harness_step *step)
{
    harness_expect_quiet(harness, step->number);
}

void harness_step_head(struct harness *harness, const struct harness_step *step)
{
    harness_head(harness, (unsigned)step->number);
}

void harness_step_many(struct harness *harness, const struct harness_step *step)
{
    harness_many_bytes(harness, (size_t)step->number);
}

void harness_step_end(struct harness *harness, const struct harness_step *step)
{
    harness_end(harness, (enum kube_outcome)step->number);
}

void harness_step_refuse(struct harness *harness, const struct harness_step *step)
{
    harness_refuse(harness, (unsigned)step->number, step->most, step->text);
}

void harness_step_page(struct harness *harness, const struct harness_step *step)
{
    harness_answer_list(harness, step->version, step->text, step->next);
}

void harness_step_event(struct harness *harness, const struct harness_step *step)
{
    harness_event(harness, step->text, (char)step->number, step->version);
}

void harness_step_is(struct harness *harness, const struct harness_step *step)
{
    const char *member = (const char *)harness + step->at;
    int64_t value = 0; /* little-endian: the low bytes come first */
    assert_true(step->size <= sizeof value);
    (void)memcpy(&value, member, step->size);
    assert_int_equal(value, step->number);
}

void harness_step_fresh_now(struct harness *harness)
{
    assert_int_equal(harness->status.fresh_ms, harness->now_ms);
}

void harness_step_names(struct harness *harness, const char *names)
{
    assert_string_equal(harness_names(harness), names);
}

void harness_step_why(struct harness *harness, const char *why)
{
    assert_string_equal(harness->why, why);
}

void harness_step_why_has(struct harness *harness, const char *part)
{
    assert_non_null(strstr(harness->why, part));
}

/* ---- the driver ---- */

static void run_step(struct harness *harness, const struct harness_step *step)
{
    if (step->plain)
        step->plain(harness);
    else if (step->textual)
        step->textual(harness, step->text);
    else if (step->ranged)
        step->ranged(harness, step->number, step->most);
    else
        step->full(harness, step);
}

static void run_script(void **state)
{
    const struct harness_script *script = *state;
    struct harness harness;
    for (int i = 0; i < HARNESS_STEPS_MAX && script->steps[i].name; i++) {
        print_message("step %d: %s\n", i + 1, script->steps[i].name);
        run_step(&harness, &script->steps[i]);
    }
    harness_fini(&harness);
}

int harness_run(const struct harness_script *scripts, size_t n)
{
    return scripts_run(run_script, scripts, n, sizeof *scripts);
}
