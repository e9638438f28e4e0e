/* The store catches up with the API server on request. */
#include "harness_steps.h"
#include "unit.h"

static void ask(struct harness *harness, const struct harness_step *step)
{
    reflector_catch_up(harness->reflector, harness->now_ms, (uint64_t)step->number, step->version);
}

static void expect_met(struct harness *harness, const struct harness_step *step)
{
    assert_int_equal(reflector_caught_up(harness->reflector), step->number);
}

#define ASK(n, to_version) FULL(ask, .number = (n), .version = (to_version))
/* Number n is the last request that was met. */
#define MET(n) FULL(expect_met, .number = (n))

static const struct harness_script SCRIPTS[] = {
    {"an already seen version is enough",
     {BEGIN, ASK(1, "99"), MET(1), ASK(2, "100"), MET(2), QUIET(HARNESS_SILENCE_MS - 1)}},
    {"the watch reaches the version",
     {BEGIN, ASK(7, "120"), ADDED('c', "119"), MET(0), BOOKMARK('c', "120"), MET(7),
      QUIET(HARNESS_SILENCE_MS - 1)}},
    /* The list has a version before 120: another history, but current. */
    {"a silent watch is relisted",
     {BEGIN, ASK(1, "120"), WAIT(300), CANCEL, LIST, MET(0), LISTED("110", "abc"), MET(1),
      NAMES("abc"), RELISTS(RELIST_BEHIND, 1), WATCH("110")}},
    /* A failed list does not count. */
    {"a request without version relists at once",
     {BEGIN, ASK(1, NULL), CANCEL, LIST, ANSWER(500, "{}"), MET(0), BACK_OFF(800), LIST,
      LISTED("110", "abc"), MET(1)}},
    {"a list begun earlier is not current",
     {INIT, LIST, ASK(1, NULL), CANCEL, LIST, ASK(2, "130"), LISTED("110", "abc"), MET(0),
      WATCH("110"), HEAD(200), ADDED('d', "131"), MET(2)}},
    {"a list yet to begin is current",
     {INIT, ASK(1, NULL), LIST, LISTED("110", "abc"), MET(1), WATCH("110")}},
};

int main(void)
{
    return harness_run(SCRIPTS, sizeof SCRIPTS / sizeof *SCRIPTS);
}
