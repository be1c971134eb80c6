/*
 * A small shop: stores orders, looks them up, marks them as shipped. An
 * ordinary program for MongoDB that knows nothing of mongobp.
 *
 *   orders URI DATABASE OPERATIONS
 *
 * An operation that fails is counted and not tried again; the program goes on
 * with the next. At the end it prints "OPERATIONS ERRORS" on one line, and the
 * first error, if any, on standard error. Exit status: 0 all was tried, 2 the
 * arguments are wrong.
 *
 * Builds with libmongoc 1.17 up to 2.x.
 */
#include <mongoc/mongoc.h>

#include <stdio.h>
#include <stdlib.h>

enum { EXIT_BAD_USAGE = 2 };

struct shop {
    mongoc_collection_t *orders;
    bson_oid_t latest; /* the order stored last */
    int next_number;
};

static bool store_order(struct shop *shop, bson_error_t *error)
{
    bson_oid_t id;
    bson_oid_init(&id, NULL);
    const int number = shop->next_number++;
    bson_t *order = BCON_NEW("_id", BCON_OID(&id), "number", BCON_INT32(number), "item",
        BCON_UTF8("tea"), "quantity", BCON_INT32(1 + number % 9), "shipped", BCON_BOOL(false));
    const bool ok = mongoc_collection_insert_one(shop->orders, order, NULL, NULL, error);
    bson_destroy(order);
    if (ok) {
        shop->latest = id;
    }
    return ok;
}

static bool look_up_order(struct shop *shop, bson_error_t *error)
{
    bson_t *filter = BCON_NEW("_id", BCON_OID(&shop->latest));
    mongoc_cursor_t *cursor = mongoc_collection_find_with_opts(shop->orders, filter, NULL, NULL);
    const bson_t *order;
    while (mongoc_cursor_next(cursor, &order)) {
    }
    const bool ok = !mongoc_cursor_error(cursor, error);
    mongoc_cursor_destroy(cursor);
    bson_destroy(filter);
    return ok;
}

static bool ship_order(struct shop *shop, bson_error_t *error)
{
    bson_t *filter = BCON_NEW("_id", BCON_OID(&shop->latest));
    bson_t *change = BCON_NEW("$set", "{", "shipped", BCON_BOOL(true), "}");
    const bool ok = mongoc_collection_update_one(shop->orders, filter, change, NULL, NULL, error);
    bson_destroy(change);
    bson_destroy(filter);
    return ok;
}

/* Half of the operations store an order. */
static bool operate(struct shop *shop, long turn, bson_error_t *error)
{
    switch (turn % 4) {
    case 1:
        return look_up_order(shop, error);
    case 3:
        return ship_order(shop, error);
    default:
        return store_order(shop, error);
    }
}

static long count_errors(struct shop *shop, long operations)
{
    long errors = 0;
    for (long turn = 0; turn < operations; turn++) {
        bson_error_t error = {0};
        if (!operate(shop, turn, &error) && errors++ == 0) {
            fprintf(stderr, "orders: %s (%u)\n", error.message, (unsigned)error.code);
        }
    }
    return errors;
}

int main(int argc, char **argv)
{
    char *rest = NULL;
    const long operations = argc == 4 ? strtol(argv[3], &rest, 10) : -1;
    if (operations < 0 || rest == argv[3] || *rest != '\0') {
        fprintf(stderr, "usage: orders URI DATABASE OPERATIONS\n");
        return EXIT_BAD_USAGE;
    }

    mongoc_init();
    int status = EXIT_BAD_USAGE;
    mongoc_client_t *client = mongoc_client_new(argv[1]);
    if (client) {
        struct shop shop = {.orders = mongoc_client_get_collection(client, argv[2], "orders")};
        bson_oid_init(&shop.latest, NULL);
        const long errors = count_errors(&shop, operations);
        printf("%ld %ld\n", operations, errors);
        mongoc_collection_destroy(shop.orders);
        mongoc_client_destroy(client);
        status = EXIT_SUCCESS;
    } else {
        fprintf(stderr, "orders: bad URI\n");
    }
    mongoc_cleanup();
    return status;
}
