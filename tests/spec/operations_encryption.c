/*
 * Operations of a clientEncryption entity. No key store is at hand here, so that such an entity is
 * never made; that they are known keeps a test with one of them from being called malformed.
 */
#include "tests/spec/operations.h"

#define ABSENT(name)                                                                               \
    {                                                                                              \
        CLIENT_ENCRYPTION, name, NULL, "", NULL                                                    \
    }

const struct operation_row encryption_operations[] = {
    ABSENT("addKeyAltName"),
    ABSENT("createDataKey"),
    ABSENT("createEncryptedCollection"),
    ABSENT("decrypt"),
    ABSENT("deleteKey"),
    ABSENT("encrypt"),
    ABSENT("getKey"),
    ABSENT("getKeyByAltName"),
    ABSENT("getKeys"),
    ABSENT("removeKeyAltName"),
    ABSENT("rewrapManyDataKey"),
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
