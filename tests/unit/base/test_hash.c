/* hash: SipHash against published vectors and independent implementations; the process key. */
#include "base/hash.h"
#include "base/table.h"
#include "unit.h"

#include <stdio.h>

/* Key 00 01 .. 0f, message 00 01 .. */
static const struct siphash_key KEY = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};

struct vector {
    size_t len;
    uint64_t narrow;
    uint64_t low, high;
};

/* From vectors.h of the authors' reference code (github.com/veorq/SipHash), as integers. */
static const struct vector TWO_FOUR[] = {
    {0, 0x726fdb47dd0e0e31, 0xe6a825ba047f81a3, 0x930255c71472f66d},
    {1, 0x74f839c593dc67fd, 0x44af996bd8c187da, 0x45fc229b11597634},
    {15, 0xa129ca6149be45e5, 0x11a8b03399e99354, 0xd9c3cf970fec087e},
    {63, 0x958a324ceb064572, 0x4a83502f77d15051, 0x7cbd3f979a063e50},
};

/* OpenSSL 3.0: openssl mac -macopt hexkey:00..0f -macopt c-rounds:1 -macopt d-rounds:3 SIPHASH */
static const struct vector ONE_THREE[] = {
    {0, 0xabac0158050fc4dc, 0xbea58827b2bc7ee7, 0x013030dd6adb62fd},
    {1, 0xc9f49bf37d57ca93, 0xa8edd36004376ffc, 0x63f02f2bcc73055e},
    {7, 0xd3927d989bb11140, 0xc3e0aaf223b98410, 0x77ab4808c82e2fa6},
    {8, 0x369095118d299a8e, 0xb4dae3d5e1fe12aa, 0x99c7f935ab164f72},
    {15, 0xd320d86d2a519956, 0x6c52bdb205557ec1, 0x09017e1eeccd2129},
    {63, 0x9d199062b7bbb3a8, 0x6f42fe4ee300584c, 0xad6052a70a6b9f07},
};

/* CPython 3.11 (siphash13), PYTHONHASHSEED=0, which means an all-zero key:
 * hash(bytes(range(len))). */
static const struct vector OF_PYTHON[] = {
    {1, 0x68a914128e01e473, 0, 0},  {7, 0x2f098ab0c751325a, 0, 0},  {8, 0xead411e67ebe2eea, 0, 0},
    {15, 0xf30eb725bb91c9ea, 0, 0}, {63, 0x385d3e39e5f37359, 0, 0},
};

static void fill(unsigned char *message, size_t len)
{
    for (size_t i = 0; i < len; i++)
        message[i] = (unsigned char)i;
}

/* In two pieces, split at each byte. */
static void assert_vector(struct siphash_key key, const struct vector *vector, unsigned c,
                          unsigned d)
{
    unsigned char message[64];
    fill(message, sizeof message);
    if (c == HASH_ROUNDS)
        assert_int_equal(hash_keyed(key, message, vector->len), vector->narrow);
    for (size_t cut = 0; cut <= vector->len; cut++) {
        struct siphash narrow = siphash_begin(key, false);
        siphash_add(&narrow, message, cut, c);
        siphash_add(&narrow, message + cut, vector->len - cut, c);
        assert_int_equal(siphash_end(&narrow, c, d), vector->narrow);
        struct siphash wide = siphash_begin(key, true);
        siphash_add(&wide, message, cut, c);
        siphash_add(&wide, message + cut, vector->len - cut, c);
        const struct siphash128 both = siphash_end128(&wide, c, d);
        if (!vector->low)
            continue;
        assert_int_equal(both.low, vector->low);
        assert_int_equal(both.high, vector->high);
    }
}

static void test_siphash_equals_the_published_vectors(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof TWO_FOUR / sizeof *TWO_FOUR; i++)
        assert_vector(KEY, &TWO_FOUR[i], 2, 4);
}

static void test_siphash_1_3_equals_openssl_and_python(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ONE_THREE / sizeof *ONE_THREE; i++)
        assert_vector(KEY, &ONE_THREE[i], HASH_ROUNDS, HASH_LAST_ROUNDS);
    for (size_t i = 0; i < sizeof OF_PYTHON / sizeof *OF_PYTHON; i++)
        assert_vector((struct siphash_key){0, 0}, &OF_PYTHON[i], HASH_ROUNDS, HASH_LAST_ROUNDS);
}

static void test_hashes_follow_the_key(void **state)
{
    (void)state;
    const struct siphash_key other = {1, 2};
    const uint64_t before = hash_text("node-1");
    assert_int_equal(before, hash_keyed(hash_key(), "node-1", 6));
    hash_set_key(other);
    assert_int_equal(hash_text("node-1"), hash_keyed(other, "node-1", 6));
    assert_int_not_equal(hash_text("node-1"), before);
    hash_set_key(KEY);
    assert_int_equal(hash_text("node-1"), before);
}

struct item {
    char name[8];
    UT_hash_handle hh;
};

/* Tables hash with the key, but iterate in the order of insertion. */
static void test_table_hashes_by_the_key_and_keeps_its_order(void **state)
{
    (void)state;
    for (uint64_t key = 0; key < 8; key++) {
        struct item items[64];
        struct item *table = NULL;
        struct item *item = NULL;
        size_t n = 0;
        hash_set_key((struct siphash_key){key, ~key});
        for (size_t i = 0; i < 64; i++) {
            (void)snprintf(items[i].name, sizeof items[i].name, "%zu", i);
            HASH_ADD_STR(table, name, &items[i]);
            assert_int_equal(items[i].hh.hashv, (unsigned)hash_text(items[i].name));
        }
        for (item = table; item; item = item->hh.next)
            assert_ptr_equal(item, &items[n++]);
        HASH_CLEAR(hh, table);
    }
    hash_set_key(KEY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_siphash_equals_the_published_vectors),
        cmocka_unit_test(test_siphash_1_3_equals_openssl_and_python),
        cmocka_unit_test(test_hashes_follow_the_key),
        cmocka_unit_test(test_table_hashes_by_the_key_and_keeps_its_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
