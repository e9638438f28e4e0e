/*
 * crd_values: fields of custom resources whose values are often written in a type that the API
 * server rejects: a version without quotes, a number among labels.
 */
#ifndef OBJECTS_CRD_VALUES_H
#define OBJECTS_CRD_VALUES_H

/* The shape of the field in kinds of that group, as in struct schema_field; '-': not known. */
char crd_values_shape(const char *api_version, const char *key);

#endif
