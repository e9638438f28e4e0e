/* Parses any text as a quantity. Nothing crashes, and accepted values are consistent. */
#include "require.h"
#include "types/quantity.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The value is the milli value, rounded up. */
static void check(const char *text)
{
    struct err err;
    int64_t value = 7;
    int64_t milli = 7;
    int64_t whole = 7;
    int value_r = quantity_value(text, &value, &err);
    int milli_r = quantity_milli(text, &milli, &err);
    int whole_r = quantity_whole(text, &whole, &err);
    require(value_r == 0 || value == 7);
    require((value_r == -EINVAL) == (milli_r == -EINVAL));
    require(value_r != -ERANGE || milli_r == -ERANGE);
    if (milli_r == 0)
        require(value == milli / 1000 + (milli % 1000 > 0) - (milli % 1000 < 0));
    if (whole_r == 0)
        require(whole == value && whole >= 0 && (milli_r != 0 || milli == whole * 1000));
    char back[32];
    if (value_r == 0)
        require(quantity_value(quantity_bytes_text(value, back), &whole, NULL) == 0 &&
                whole == value);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    check(text);
    free(text);
    return 0;
}
