/* quantity_json: see quantity_json.h. */
#include "quantity_json.h"

#include "formats/json_get.h"
#include "types/quantity.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void write_real(double real, char *ret_text)
{
    int n_digits = DBL_DIG;
    do
        (void)snprintf(ret_text, QUANTITY_JSON_NUMBER_BYTES, "%.*g", n_digits++, real);
    while (n_digits <= DBL_DECIMAL_DIG && strtod(ret_text, NULL) != real);
}

int quantity_json_text(const json_t *value, char *number, const char **ret_text, struct err *err)
{
    if (json_is_real(value)) {
        write_real(json_real_value(value), number);
        *ret_text = number;
        return 0;
    }
    if (json_is_integer(value)) {
        (void)snprintf(number, QUANTITY_JSON_NUMBER_BYTES, "%" JSON_INTEGER_FORMAT,
                       json_integer_value(value));
        *ret_text = number;
        return 0;
    }
    if (!json_is_string(value))
        return err_set(err, EINVAL, "is %s, should be a quantity such as \"4\" or \"16Gi\"",
                       json_type_text(value));
    *ret_text = json_string_value(value);
    return 0;
}

static int measure(const char *text, const char *resource, int64_t *ret_amount, struct err *err)
{
    if (strcmp(resource, "cpu") == 0)
        return quantity_milli(text, ret_amount, err);
    return quantity_value(text, ret_amount, err);
}

int quantity_json_amount(const json_t *value, const char *resource, int64_t *ret_amount,
                         struct err *err)
{
    char number[QUANTITY_JSON_NUMBER_BYTES];
    const char *text = "";
    int r = quantity_json_text(value, number, &text, err);
    if (r < 0)
        return r;
    int64_t amount = 0;
    r = measure(text, resource, &amount, err);
    bool negative = amount < 0 || (r == -ERANGE && *text == '-');
    if (negative)
        return err_set(err, EINVAL, "\"%.40s\" is negative", text);
    if (r < 0)
        return r;
    *ret_amount = amount;
    return 0;
}
