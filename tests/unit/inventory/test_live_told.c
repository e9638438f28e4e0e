/* live: a kind that cannot be followed is logged once, however many retries there are. */
#include "followed.h"
#include "live_cluster.h"

#define LISTED "{'kind':'NamespaceList','metadata':{'resourceVersion':'5'},'items':[]}"
#define BOOKMARK "{'type':'BOOKMARK','object':{'metadata':{'resourceVersion':'6'}}}"
#define FORBIDDEN "{'kind':'Status','code':403,'message':'namespaces is forbidden'}"
#define TOLD(why)                                                                                  \
    "level=warn mod=inventory msg=\"following the API server failed: trying again\" "              \
    "kind=namespaces why=\"" why "\"\n"

static void begin(struct live_cluster *live, struct followed *followed)
{
    static const struct reflector_kind KIND = {.name = "namespaces", .path = "/namespaces"};
    followed_begin(followed, &KIND, &live->stores[CLUSTER_NAMESPACES]);
}

static void answer(struct followed *followed, bool is_watch, unsigned status, const char *text)
{
    char body[200];
    size_t len = 0;
    for (; *text; text++)
        body[len++] = *text == '\'' ? '"' : *text;
    body[len] = '\0';
    followed_answer(followed, is_watch, status, body);
}

static void test_a_forbidden_watch_is_logged_once(void **state)
{
    struct followed followed;
    begin(*state, &followed);
    for (int i = 0; i < 3; i++) {
        answer(&followed, false, 200, LISTED);
        answer(&followed, true, 403, FORBIDDEN);
    }
    followed_check_log(&followed, TOLD("watch /namespaces: 403: namespaces is forbidden"));
    answer(&followed, false, 200, LISTED);
    answer(&followed, true, 500, "no");
    followed_check_log(&followed, TOLD("watch /namespaces: 500: no"));
    answer(&followed, false, 200, LISTED);
    answer(&followed, true, 200, BOOKMARK);
    answer(&followed, true, 500, "no");
    followed_check_log(&followed, TOLD("watch /namespaces: 500: no"));
    followed_end(&followed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LIVE_TEST(test_a_forbidden_watch_is_logged_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
