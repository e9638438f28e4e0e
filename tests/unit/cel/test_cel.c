/* cel: selectors as people write them, and the corners where upstream surprises. tests/cel compares
 * many more with upstream itself; each line here was one of its answers. */
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

static void selectors_in_use_are_judged(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"device.driver == 'gpu.nvidia.com'", "true"},
        {GPU ".type == 'gpu'", "true"},
        {GPU ".productName.lowerAscii().matches('^.*h100.*$')", "true"},
        {GPU ".productName.startsWith('NVIDIA A100')", "false"},
        {GPU ".index == 0 || " GPU ".index == 2", "true"},
        {GPU ".productName in ['NVIDIA H100 80GB HBM3', 'NVIDIA A100']", "true"},
        {GPU ".driverVersion.compareTo(semver('580.65.6')) < 0", "true"},
        {GPU ".cudaComputeCapability.compareTo(semver('9.0.0')) >= 0", "true"},
        {MEMORY ".compareTo(quantity('40Gi')) >= 0", "true"},
        {MEMORY ".isGreaterThan(quantity('80Gi'))", "false"},
        {"device.allowMultipleAllocations == true", "false"},
        {"'gpu.nvidia.com' in device.attributes && 'index' in " GPU, "true"},
        {"has(" GPU ".profile) && " GPU ".profile == '1g.5gb'", "false"},
        {"cel.bind(dra, " GPU ", dra.type == 'gpu' && dra.index < 8)", "true"},
        {GPU ".?profile.orValue('none') == 'none'", "true"},
        {"device.attributes.exists(d, d == 'resource.kubernetes.io')", "true"},
        {"!(" GPU ".sriov) ? true : false", "true"},
    };
    CHECK(ROWS);
}

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
    };
    CHECK(ROWS);
}

static void errors_are_absorbed_where_other_terms_decide(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {GPU ".none == 1 || true", "true"},
        {GPU ".none == 1 && false", "false"},
        {GPU ".none == 1 && true", "error: no such key: none"},
        {GPU ".index || true", "true"},
        {GPU ".index && true", "error: no such overload"},
        {GPU ".none ? true : true", "error: no such key: none"},
        {"[1, 0].exists(x, 1 / x == 1)", "true"},
        {"[0, 1].all(x, 1 / x == 2)", "false"},
        {"[0, 1].exists_one(x, 1 / x == 1)", "error: division by zero"},
        {"[1, 2].filter(x, 2 / (x - 1) > 0) == [2]", "error: division by zero"},
        {"cel.bind(x, 1 / 0, true)", "true"},
        {"(1 / 0 == 1) in []", "false"},
        {GPU ".driverVersion in ['1.0.0'] || true", "error: internal error: *unhashable"},
        {GPU ".driverVersion in [true, 1 in []]", "error: internal error: *unhashable"},
        {GPU ".driverVersion in [true, 1 in [1]]", "false"},
        {"[2, 3][5] == 1", "error: index out of bounds: 5"},
        {"optional.none().value() == 1", "error: optional.none() dereference"},
        {"9223372036854775807 + 1 > 0", "error: integer overflow"},
    };
    CHECK(ROWS);
}

static void types_are_checked_before_any_device(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"true || 1", "invalid: *expected type 'bool' but found 'int'"},
        {"[1, 'a'] == [1]", "invalid: *"},
        {"[" GPU ".index, 1] == [2, 1]", "invalid: *"},
        {"1 < 1.5 && 1u < 2", "true"},
        {"1 == 1.0", "invalid: *" NO_OVERLOAD "'_==_'"},
        {"dyn(1) == 1.0", "true"},
        {"[].size() == 0 && [] == []", "true"},
        {"true ? 1 : 'a'", "invalid: *" NO_OVERLOAD "'_?_:_'"},
        {GPU ".index.exists(x, true)", "invalid: *cannot be range of a comprehension"},
        {"'a,b'.split(',').map(x, x) == ['a', 'b']", "true"},
        {"int('7') == 7", "true"},
        {"int('a') == 7", "invalid: program instantiation failed: *"},
        {"!!5", "invalid: must evaluate to bool or the unknown type, not int"},
        {"-(-5) == 5 && --5 == 5", "true"},
    };
    CHECK(ROWS);
}

static void patterns_are_those_of_re2(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"'NVIDIA A100'.matches('A10')", "true"},
        {"'NVIDIA A100'.matches('A10\\\\b')", "false"},
        {"'NVIDIA A100'.matches('(?i)a10{2}$')", "true"},
        {"'\\u212a'.matches('(?i)k')", "true"},
        {"'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'.matches('^(a*)*b')", "false"},
        {"'a]'.matches('^[]a]+$')", "true"},
        {"'a{,2}'.matches('a{,2}')", "true"},
        {"'x'.matches('x**')", "invalid: *"},
        {"'x'.matches('(?=x)')", "invalid: *"},
        {"'x'.matches('\\\\1')", "invalid: *"},
        {"'x'.matches('x{1001}')", "invalid: *"},
        {"'x'.matches('\\\\pL')", "not judged: *"},
    };
    CHECK(ROWS);
}

static void quantities_and_versions_are_exact(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"quantity('1.5Gi') == quantity('1536Mi')", "true"},
        {"quantity('0.1').compareTo(quantity('100m')) == 0", "true"},
        {"quantity('0.0000000001') == quantity('1n')", "true"},
        {"quantity('-1').isLessThan(quantity('-0.5'))", "true"},
        {"isQuantity('80GB')", "false"},
        {"semver('1.0.0-rc.2').isGreaterThan(semver('1.0.0-rc.1'))", "true"},
        {"semver('1.0.0-1').isLessThan(semver('1.0.0-a'))", "true"},
        {"semver('1.0.0+a') == semver('1.0.0+b')", "true"},
        {"semver('v1', true).major() == 1", "true"},
        {"isSemver('1.0')", "false"},
    };
    CHECK(ROWS);
}

static void the_rest_is_not_judged(void **state)
{
    (void)state;
    static const struct row ROWS[] = {
        {"duration('1h') > duration('1m')", "not judged: uses duration()"},
        {GPU ".type.find('g') == 'g'", "not judged: uses find()"},
        {MEMORY ".add(1).sign() == 1", "not judged: uses add()"},
        {"sets.contains([1], [1])", "not judged: uses sets.contains()"},
        {"{'a': 1}.size() == 1", "not judged: uses a map literal"},
        {"b'a' == b'a'", "not judged: uses bytes"},
        {"type(1) == int", "not judged: uses *"},
        {GPU ".index + null == 1", "not judged: uses null as an argument"},
        {"[1, 2].all(i, x, x > i)", "not judged: uses all()"},
    };
    CHECK(ROWS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(selectors_in_use_are_judged),
        cmocka_unit_test(mistakes_have_upstreams_words),
        cmocka_unit_test(errors_are_absorbed_where_other_terms_decide),
        cmocka_unit_test(types_are_checked_before_any_device),
        cmocka_unit_test(patterns_are_those_of_re2),
        cmocka_unit_test(quantities_and_versions_are_exact),
        cmocka_unit_test(the_rest_is_not_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
