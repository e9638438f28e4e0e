/* cel: what an answer says beside its value: the words of errors, which users know from upstream,
 * and what is not judged. The values are compared in tests/cel, whose corners.txt has this device.
 */
#include "base/mem.h"
#include "judge.h"
#include "unit.h"

#include <string.h>

#define GPU "device.attributes['gpu.nvidia.com']"
#define MEMORY "device.capacity['gpu.nvidia.com'].memory"
#define NO_OVERLOAD "found no matching overload for "

struct row {
    const char *expression;
    const char *answer; /* the beginning, or a part after an asterisk */
};

static bool agrees(const char *got, const char *wanted)
{
    const char *part = strchr(wanted, '*');
    if (!part)
        return strcmp(got, wanted) == 0;
    return strncmp(got, wanted, (size_t)(part - wanted)) == 0 && strstr(got, part + 1);
}

static void check(const struct row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct arena *arena CLEANUP(arena_free_ptr) = arena_new();
        const char *got = judge(rows[i].expression, arena);
        if (!agrees(got, rows[i].answer))
            fail_msg("%s\n    gives  %s\n    not    %s", rows[i].expression, got, rows[i].answer);
    }
}
#define CHECK(rows) check((rows), sizeof(rows) / sizeof((rows)[0]))

static void mistakes_have_upstreams_words(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {GPU ".model == 'H100'", "error: no such key: model"},
        {"device.attributes['nvidia.com'].type == 'gpu'", "error: no such key: type"},
        {MEMORY " >= quantity('40Gi')",
         "invalid: *" NO_OVERLOAD "'_>=_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'"},
        {GPU ".cudaComputeCapability == '9.0.0'", "error: no such overload"},
        {"'9.0.0' == " GPU ".cudaComputeCapability", "false"},
        {GPU ".cudaComputeCapability != '9.0.0'", "true"},
        {GPU ".type not in ['mig']", "invalid: compilation failed: *Syntax error"},
        {"has(" GPU "['type'])", "invalid: *invalid argument to has() macro"},
        {"has(device.attributes['gpu.nvidia.com'])", "invalid: *invalid argument to has() macro"},
        {"x == 1", "invalid: *undeclared reference to 'x'"},
        {"device.model == 'x'", "invalid: *undefined field 'model'"},
        {GPU ".type.matches('gpu(')", "invalid: *invalid matches argument"},
        {"1", "invalid: must evaluate to bool or the unknown type, not int"},
        {"'gpu'", "invalid: must evaluate to bool or the unknown type, not string"},
        {GPU ".index", "error: CEL result of type int could not be converted to bool"},
        {MEMORY ".compareTo(quantity('80GB')) >= 0", "error: quantities must match*"},
        {"", "invalid: *Syntax error"},
        {"[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero"},
        {"[1, 2].filter(x, 2 / (x - 1) > 0) == [2]", "error: division by zero"},
        {GPU ".driverVersion in ['1.0.0'] || true", "error: internal error: *unhashable"},
        {GPU ".driverVersion in [true, 1 in []]", "error: internal error: *unhashable"},
        {"[2, 3][5] == 1", "error: index out of bounds: 5"},
        {"true || 1", "invalid: *expected type 'bool' but found 'int'"},
        {"1 == 1.0", "invalid: *" NO_OVERLOAD "'_==_'"},
        {"true ? 1 : 'a'", "invalid: *" NO_OVERLOAD "'_?_:_'"},
        {GPU ".index.exists(x, true)", "invalid: *cannot be range of a comprehension"},
        {"int('a') == 7", "invalid: program instantiation failed: *"},
        {"!!5", "invalid: must evaluate to bool or the unknown type, not int"},
    };
    CHECK(ROWS);
}

static void the_rest_is_not_judged(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"duration('1h') > duration('1m')", "not judged: uses duration()"},
        {"'x'.matches('\\\\pL')", "not judged: *"},
        {GPU ".type.find('g') == 'g'", "not judged: uses find()"},
        {MEMORY ".add(1).sign() == 1", "not judged: uses add()"},
        {"sets.contains([1], [1])", "not judged: uses sets.contains()"},
        {"{'a': 1}.size() == 1", "not judged: uses a map literal"},
        {"b'a' == b'a'", "not judged: uses bytes"},
        {"type(1) == int", "not judged: uses *"},
        {GPU ".index + null == 1", "not judged: uses null as an argument"},
        {"[1, 2].all(i, x, x > i)", "not judged: uses all()"},
        {".device.driver == 'x'", "not judged: uses a name with a leading dot"},
    };
    CHECK(ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mistakes_have_upstreams_words),
        cmocka_unit_test(the_rest_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
