/* What is said where the API server does not let the Lease be followed: which right is missing, and
 * that once, however often it is tried. */
#include "base/log.h"
#include "base/mem.h"
#include "sight.h"
#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORBIDDEN "{\"kind\":\"Status\",\"code\":403,\"message\":\"leases is forbidden\"}"
#define LEASES                                                                                     \
    "{\"kind\":\"LeaseList\",\"metadata\":{\"resourceVersion\":\"5\"},\"items\":[{\"metadata\":{"  \
    "\"name\":\"gpu\"}}]}"

struct stage {
    struct sight sight;
    struct reflector *reflector;
    int64_t now_ms;
    FILE *log;
};

static void begin(struct stage *stage)
{
    static const struct reflector_kind KIND = {.name = "gpu", .path = "/leases"};
    static const struct reflector_settings SETTINGS = {
        .kind = &KIND, .page_size = 10, .silence_ms = 3600000, .max_object_bytes = 1000};
    *stage = (struct stage){.now_ms = 1000, .log = tmpfile()};
    assert_non_null(stage->log);
    log_configure(LOG_INFO, LOG_KEY_VALUE);
    const struct reflector_store store = sight_store(&stage->sight, "leases");
    stage->reflector = reflector_new(&SETTINGS, &store);
}

static void end(struct stage *stage)
{
    (void)fclose(stage->log);
    reflector_free(stage->reflector);
    sight_fini(&stage->sight);
}

/* The next request, which must be a watch or not, is answered. */
static void answer(struct stage *stage, bool is_watch, unsigned status, const char *body)
{
    struct reflector_action action = reflector_next(stage->reflector, stage->now_ms);
    while (action.want != REFLECTOR_REQUEST) {
        if (action.want == REFLECTOR_WAIT)
            stage->now_ms = action.until_ms;
        action = reflector_next(stage->reflector, stage->now_ms);
    }
    assert_int_equal(strstr(action.request.path, "watch=true") != NULL, is_watch);
    const int saved = dup(STDERR_FILENO);
    assert_true(dup2(fileno(stage->log), STDERR_FILENO) >= 0);
    reflector_head(stage->reflector, stage->now_ms, status, -1);
    reflector_bytes(stage->reflector, stage->now_ms, body, strlen(body));
    reflector_end(stage->reflector, stage->now_ms, KUBE_ANSWERED, NULL);
    assert_true(dup2(saved, STDERR_FILENO) >= 0);
    (void)close(saved);
}

/* What the log has, without the times, and is empty again. */
static char *said(struct stage *stage)
{
    char *text = mem_new(4096);
    size_t len = 0;
    char line[1000];
    rewind(stage->log);
    while (fgets(line, sizeof line, stage->log)) {
        const char *rest = strstr(line, "level=");
        assert_non_null(rest);
        len += (size_t)snprintf(text + len, 4096 - len, "%s", rest);
    }
    rewind(stage->log);
    assert_int_equal(ftruncate(fileno(stage->log), 0), 0);
    return text;
}

static void assert_said(struct stage *stage, const char *expected)
{
    char *text = said(stage);
    assert_string_equal(text, expected);
    free(text);
}

#define SAID(right, request)                                                                       \
    "level=warn mod=leader msg=\"the API server does not let this be followed: its changes are "   \
    "seen late\" kind=leases right=" right " why=\"" request                                       \
    " /leases: 403: leases is forbidden\"\n"

static void a_right_that_is_missing_is_told_once(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    for (int i = 0; i < 3; i++)
        answer(&stage, false, 403, FORBIDDEN);
    assert_said(&stage, SAID("list", "GET"));
    for (int i = 0; i < 3; i++) {
        answer(&stage, false, 200, LEASES);
        answer(&stage, true, 403, FORBIDDEN);
    }
    assert_said(&stage, SAID("watch", "watch"));
    end(&stage);
}

static void one_that_is_given_and_taken_is_told_again(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    for (int i = 0; i < 2; i++) {
        answer(&stage, false, 403, FORBIDDEN);
        assert_said(&stage, SAID("list", "GET"));
        answer(&stage, false, 200, LEASES);
        answer(&stage, true, 200, "");
        answer(&stage, true, 410, "{}");
        assert_said(&stage, "");
    }
    end(&stage);
}

static void what_is_no_refusal_is_not_told(void **state)
{
    struct stage stage;
    (void)state;
    begin(&stage);
    answer(&stage, false, 500, "{}");
    answer(&stage, false, 429, "{}");
    answer(&stage, false, 200, LEASES);
    answer(&stage, true, 500, "{}");
    assert_said(&stage, "");
    end(&stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_that_is_missing_is_told_once),
        cmocka_unit_test(one_that_is_given_and_taken_is_told_again),
        cmocka_unit_test(what_is_no_refusal_is_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
