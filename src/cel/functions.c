/*
 * functions: see functions.h. The names come from the environment that cel-go builds for
 * k8s.io/dynamic-resource-allocation/cel 0.36.3 (tests/cel prints them).
 */
#include "functions.h"

#include <string.h>

/* A signature: arguments, ">", result; "." first if it is a member. Types: b bool, i int, u uint,
 * d double, s string, q quantity, v semver, D dyn, A and B variables, L, O and M list, optional and
 * map of the types that follow. Overloads are in upstream's order, as the first one that fits
 * gives the type of the result; those of types that are not judged here are left out. */
static const struct {
    enum cel_function function;
    const char *name;
    const char *overloads;
} FUNCTIONS[] = {
    {F_CONDITIONAL, "_?_:_", "bAA>A"},
    {F_NOT, "!_", "b>b"},
    {F_NEGATE, "-_", "d>d i>i"},
    {F_EQUAL, "_==_", "AA>b"},
    {F_NOT_EQUAL, "_!=_", "AA>b"},
    {F_ADD, "_+_", "dd>d ii>i LALA>LA ss>s uu>u"},
    {F_SUBTRACT, "_-_", "dd>d ii>i uu>u"},
    {F_MULTIPLY, "_*_", "dd>d ii>i uu>u"},
    {F_DIVIDE, "_/_", "dd>d ii>i uu>u"},
    {F_MODULO, "_%_", "ii>i uu>u"},
    {F_LESS, "_<_", "bb>b ii>b id>b iu>b uu>b ud>b ui>b dd>b di>b du>b ss>b"},
    {F_LESS_EQUAL, "_<=_", "bb>b ii>b id>b iu>b uu>b ud>b ui>b dd>b di>b du>b ss>b"},
    {F_GREATER, "_>_", "bb>b ii>b id>b iu>b uu>b ud>b ui>b dd>b di>b du>b ss>b"},
    {F_GREATER_EQUAL, "_>=_", "bb>b ii>b id>b iu>b uu>b ud>b ui>b dd>b di>b du>b ss>b"},
    {F_INDEX, "_[_]", "LAi>A MABA>B OLAi>OA OMABA>OB"},
    {F_OPT_INDEX, "_[?_]", "LAi>OA OLAi>OA MABA>OB OMABA>OB"},
    {F_IN, "@in", "ALA>b AMAB>b"},
    {F_SIZE, "size", "LA>i .LA>i MAB>i .MAB>i s>i .s>i"},
    {F_DYN, "dyn", "A>D"},
    {F_INT, "int", "i>i d>i s>i u>i"},
    {F_DOUBLE, "double", "d>d i>d s>d u>d"},
    {F_STRING, "string", "s>s b>s d>s i>s u>s"},
    {F_BOOL, "bool", "b>b s>b"},
    {F_CONTAINS, "contains", ".ss>b"},
    {F_ENDS_WITH, "endsWith", ".ss>b"},
    {F_STARTS_WITH, "startsWith", ".ss>b"},
    {F_MATCHES, "matches", "ss>b .ss>b"},
    {F_LOWER, "lowerAscii", ".s>s"},
    {F_UPPER, "upperAscii", ".s>s"},
    {F_SPLIT, "split", ".ss>Ls .ssi>Ls"},
    {F_REPLACE, "replace", ".sss>s .sssi>s"},
    {F_SUBSTRING, "substring", ".si>s .sii>s"},
    {F_TRIM, "trim", ".s>s"},
    {F_INDEX_OF, "indexOf", ".LAA>i .ss>i .ssi>i"},
    {F_JOIN, "join", ".Ls>s .Lss>s"},
    {F_CHAR_AT, "charAt", ".si>s"},
    {F_QUANTITY, "quantity", "s>q"},
    {F_IS_QUANTITY, "isQuantity", "s>b"},
    {F_SEMVER, "semver", "s>v sb>v"},
    {F_IS_SEMVER, "isSemver", "s>b sb>b"},
    {F_MAJOR, "major", ".v>i"},
    {F_MINOR, "minor", ".v>i"},
    {F_PATCH, "patch", ".v>i"},
    {F_IS_GREATER, "isGreaterThan", ".qq>b .vv>b"},
    {F_IS_LESS, "isLessThan", ".qq>b .vv>b"},
    {F_COMPARE_TO, "compareTo", ".qq>i .vv>i"},
    {F_OPTIONAL_NONE, "optional.none", ">OA"},
    {F_OPTIONAL_OF, "optional.of", "A>OA"},
    {F_OR, "or", ".OAOA>OA"},
    {F_OR_VALUE, "orValue", ".OAA>A"},
    {F_HAS_VALUE, "hasValue", ".OA>b"},
    {F_VALUE, "value", ".OA>A"},
};

/* Declared by upstream, but not evaluated here. (add() and sub() of a quantity sometimes change the
 * quantity in place, and thereby the device.) */
static const char *const OTHERS[] = {
    "add",
    "allowed",
    "asApproximateFloat",
    "asInteger",
    "bytes",
    "check",
    "cidr",
    "containsCIDR",
    "containsIP",
    "distinct",
    "duration",
    "error",
    "errored",
    "family",
    "fieldSelector",
    "find",
    "findAll",
    "first",
    "flatten",
    "format",
    "format.byte",
    "format.date",
    "format.datetime",
    "format.dns1035Label",
    "format.dns1035LabelPrefix",
    "format.dns1123Label",
    "format.dns1123LabelPrefix",
    "format.dns1123Subdomain",
    "format.dns1123SubdomainPrefix",
    "format.labelValue",
    "format.named",
    "format.qualifiedName",
    "format.uri",
    "format.uuid",
    "getDate",
    "getDayOfMonth",
    "getDayOfWeek",
    "getDayOfYear",
    "getEscapedPath",
    "getFullYear",
    "getHost",
    "getHostname",
    "getHours",
    "getMilliseconds",
    "getMinutes",
    "getMonth",
    "getPort",
    "getQuery",
    "getScheme",
    "getSeconds",
    "group",
    "includes",
    "ip",
    "ip.isCanonical",
    "isCIDR",
    "isGlobalUnicast",
    "isIP",
    "isInteger",
    "isLinkLocalMulticast",
    "isLinkLocalUnicast",
    "isLoopback",
    "isSorted",
    "isURL",
    "isUnspecified",
    "labelSelector",
    "last",
    "lastIndexOf",
    "lists.range",
    "masked",
    "max",
    "min",
    "name",
    "namespace",
    "optional.ofNonZeroValue",
    "optional.unwrap",
    "path",
    "prefixLength",
    "reason",
    "resource",
    "reverse",
    "serviceAccount",
    "sets.contains",
    "sets.equivalent",
    "sets.intersects",
    "sign",
    "slice",
    "sort",
    "strings.quote",
    "sub",
    "subresource",
    "sum",
    "timestamp",
    "type",
    "uint",
    "unwrapOpt",
    "url",
    "validate",
};

/* Identifiers of types, and the first parts of qualified ones. */
static const char *const TYPE_NAMES[] = {
    "bool", "bytes", "double",    "google",        "int",    "kubernetes", "list",
    "map",  "net",   "null_type", "optional_type", "string", "type",       "uint",
};

int cel_find_function(struct cel_text name)
{
    for (size_t i = 0; i < sizeof FUNCTIONS / sizeof FUNCTIONS[0]; i++)
        if (cel_text_is(name, FUNCTIONS[i].name))
            return (int)FUNCTIONS[i].function;
    return -1;
}

static bool is_among(struct cel_text name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cel_text_is(name, names[i]))
            return true;
    return false;
}

bool cel_is_declared(struct cel_text name)
{
    return cel_find_function(name) >= 0 || is_among(name, OTHERS, sizeof OTHERS / sizeof OTHERS[0]);
}

bool cel_is_type_name(struct cel_text name)
{
    return is_among(name, TYPE_NAMES, sizeof TYPE_NAMES / sizeof TYPE_NAMES[0]);
}

static const struct cel_type *read_type(struct cel_types *types, const char **at,
                                        const struct cel_type **vars)
{
    static const struct {
        char letter;
        enum cel_kind kind;
    } SIMPLE[] = {{'b', K_BOOL},   {'i', K_INT},      {'u', K_UINT},   {'d', K_DOUBLE},
                  {'s', K_STRING}, {'q', K_QUANTITY}, {'v', K_SEMVER}, {'D', K_DYN}};
    char letter = *(*at)++;
    for (size_t i = 0; i < sizeof SIMPLE / sizeof SIMPLE[0]; i++)
        if (SIMPLE[i].letter == letter)
            return cel_simple_type(SIMPLE[i].kind);
    if (letter == 'A' || letter == 'B') {
        if (!vars[letter - 'A'])
            vars[letter - 'A'] = cel_new_var(types);
        return vars[letter - 'A'];
    }
    const struct cel_type *a = read_type(types, at, vars);
    const struct cel_type *b = letter == 'M' ? read_type(types, at, vars) : NULL;
    enum cel_kind kind = letter == 'L' ? K_LIST : letter == 'O' ? K_OPTIONAL : K_MAP;
    return cel_new_type(types, kind, a, b);
}

bool cel_overload_at(struct cel_types *types, int function, size_t i, struct cel_overload *ret)
{
    const char *at = FUNCTIONS[function].overloads;
    while (i > 0 && (at = strchr(at, ' '))) {
        at++;
        i--;
    }
    if (!at)
        return false;
    const struct cel_type *vars[2] = {NULL, NULL};
    *ret = (struct cel_overload){.is_member = *at == '.'};
    if (*at == '.')
        at++;
    while (*at != '>')
        ret->args[ret->n_args++] = read_type(types, &at, vars);
    at++;
    ret->result = read_type(types, &at, vars);
    return true;
}
