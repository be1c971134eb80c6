/* The bulk write of a client, which came with libmongoc 1.30. */
#include "tests/spec/operations.h"
#include "tests/spec/options.h"

#include <string.h>

#if MONGOC_CHECK_VERSION(1, 30, 0)

/* One model while it is added. */
struct model {
    mongoc_bulkwrite_t *bulk;
    const char *namespace;
    bson_t fields, filter; /* views */
    bson_error_t *error;
};

typedef bool add_function(struct model *model);

/* Sets an option by the driver's function for it, if the model has it. */
#define SET_DOCUMENT(kind, option, key)                                                            \
    do {                                                                                           \
        bson_t view;                                                                               \
        if (doc_view(&model->fields, key, &view)) {                                                \
            mongoc_bulkwrite_##kind##opts_set_##option(opts, &view);                               \
        }                                                                                          \
    } while (0)

#define SET_HINT(kind)                                                                             \
    do {                                                                                           \
        bson_iter_t hint;                                                                          \
        if (doc_find(&model->fields, "hint", &hint)) {                                             \
            mongoc_bulkwrite_##kind##opts_set_hint(opts, bson_iter_value(&hint));                  \
        }                                                                                          \
    } while (0)

#define SET_UPSERT(kind)                                                                           \
    do {                                                                                           \
        if (doc_has(&model->fields, "upsert")) {                                                   \
            mongoc_bulkwrite_##kind##opts_set_upsert(                                              \
                opts, doc_bool(&model->fields, "upsert", false));                                  \
        }                                                                                          \
    } while (0)

#define ADD_UPDATE(kind, more)                                                                     \
    static bool add_##kind(struct model *model)                                                    \
    {                                                                                              \
        mongoc_bulkwrite_##kind##opts_t *opts = mongoc_bulkwrite_##kind##opts_new();               \
        bson_t update;                                                                             \
        SET_DOCUMENT(kind, collation, "collation");                                                \
        SET_HINT(kind);                                                                            \
        SET_UPSERT(kind);                                                                          \
        more;                                                                                      \
        if (!doc_view(&model->fields, "update", &update)) {                                        \
            doc_view(&model->fields, "replacement", &update);                                      \
        }                                                                                          \
        const bool added = mongoc_bulkwrite_append_##kind(                                         \
            model->bulk, model->namespace, &model->filter, &update, opts, model->error);           \
        mongoc_bulkwrite_##kind##opts_destroy(opts);                                               \
        return added;                                                                              \
    }

#define ADD_DELETE(kind)                                                                           \
    static bool add_##kind(struct model *model)                                                    \
    {                                                                                              \
        mongoc_bulkwrite_##kind##opts_t *opts = mongoc_bulkwrite_##kind##opts_new();               \
        SET_DOCUMENT(kind, collation, "collation");                                                \
        SET_HINT(kind);                                                                            \
        const bool added = mongoc_bulkwrite_append_##kind(                                         \
            model->bulk, model->namespace, &model->filter, opts, model->error);                    \
        mongoc_bulkwrite_##kind##opts_destroy(opts);                                               \
        return added;                                                                              \
    }

ADD_UPDATE(updateone, SET_DOCUMENT(updateone, arrayfilters, "arrayFilters");
           SET_DOCUMENT(updateone, sort, "sort"))
ADD_UPDATE(updatemany, SET_DOCUMENT(updatemany, arrayfilters, "arrayFilters"))
ADD_UPDATE(replaceone, SET_DOCUMENT(replaceone, sort, "sort"))
ADD_DELETE(deleteone)
ADD_DELETE(deletemany)

static bool add_insertone(struct model *model)
{
    bson_t document;

    doc_view(&model->fields, "document", &document);
    return mongoc_bulkwrite_append_insertone(
        model->bulk, model->namespace, &document, NULL, model->error);
}

#define FILTERED "namespace filter collation hint"

static const struct {
    const char *name, *keys;
    add_function *add;
} models[] = {
    {"insertOne", "namespace document", add_insertone},
    {"updateOne", FILTERED " update upsert arrayFilters sort", add_updateone},
    {"updateMany", FILTERED " update upsert arrayFilters", add_updatemany},
    {"replaceOne", FILTERED " replacement upsert sort", add_replaceone},
    {"deleteOne", FILTERED, add_deleteone},
    {"deleteMany", FILTERED, add_deletemany},
};

/* Adds {name: {namespace, ...}}; what the driver refuses is the operation's error. */
static bool add_model(
    struct operation *operation, mongoc_bulkwrite_t *bulk, const bson_iter_t *wrapped)
{
    struct model model = {.bulk = bulk, .error = &operation->error};
    bson_iter_t iter;
    bson_t view;

    if (!iter_view(wrapped, &view) || !doc_first(&view, &iter) ||
        !iter_view(&iter, &model.fields)) {
        return fail(operation->test, "clientBulkWrite: not a model");
    }
    model.namespace = doc_text(&model.fields, "namespace", "?");
    doc_view(&model.fields, "filter", &model.filter);
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        if (strcmp(models[i].name, bson_iter_key(&iter)) == 0) {
            return only_keys(operation->test, &model.fields, models[i].name, models[i].keys) &&
                   outcome(operation, models[i].add(&model));
        }
    }
    return fail(operation->test, "clientBulkWrite: unknown model '%s'", bson_iter_key(&iter));
}

static mongoc_bulkwriteopts_t *bulk_options(struct operation *operation)
{
    const bson_t *arguments = &operation->arguments;
    mongoc_bulkwriteopts_t *opts = mongoc_bulkwriteopts_new();
    mongoc_write_concern_t *concern = write_concern(arguments);
    bson_t view;
    bson_iter_t comment;

    mongoc_bulkwriteopts_set_ordered(opts, doc_bool(arguments, "ordered", true));
    mongoc_bulkwriteopts_set_verboseresults(opts, doc_bool(arguments, "verboseResults", false));
    if (doc_has(arguments, "bypassDocumentValidation")) {
        mongoc_bulkwriteopts_set_bypassdocumentvalidation(
            opts, doc_bool(arguments, "bypassDocumentValidation", false));
    }
    if (doc_view(arguments, "let", &view)) {
        mongoc_bulkwriteopts_set_let(opts, &view);
    }
    if (doc_find(arguments, "comment", &comment)) {
        mongoc_bulkwriteopts_set_comment(opts, bson_iter_value(&comment));
    }
    if (concern) {
        mongoc_bulkwriteopts_set_writeconcern(opts, concern);
    }
    mongoc_write_concern_destroy(concern);
    return opts;
}

static void keep_result(struct operation *operation, const mongoc_bulkwriteresult_t *from)
{
    bson_t result = BSON_INITIALIZER;
    const struct {
        const char *key;
        const bson_t *results;
    } verbose[] = {
        {"insertResults", mongoc_bulkwriteresult_insertresults(from)},
        {"updateResults", mongoc_bulkwriteresult_updateresults(from)},
        {"deleteResults", mongoc_bulkwriteresult_deleteresults(from)},
    };

    BSON_APPEND_INT64(&result, "insertedCount", mongoc_bulkwriteresult_insertedcount(from));
    BSON_APPEND_INT64(&result, "upsertedCount", mongoc_bulkwriteresult_upsertedcount(from));
    BSON_APPEND_INT64(&result, "matchedCount", mongoc_bulkwriteresult_matchedcount(from));
    BSON_APPEND_INT64(&result, "modifiedCount", mongoc_bulkwriteresult_modifiedcount(from));
    BSON_APPEND_INT64(&result, "deletedCount", mongoc_bulkwriteresult_deletedcount(from));
    for (size_t i = 0; i < sizeof verbose / sizeof *verbose; i++) {
        if (verbose[i].results) {
            BSON_APPEND_DOCUMENT(&result, verbose[i].key, verbose[i].results);
        }
    }
    result_document(operation, &result);
    bson_destroy(&result);
}

/* The reply that other writes would have given: the server's, and the two lists of errors. */
static void keep_error(struct operation *operation, const mongoc_bulkwriteexception_t *from)
{
    const bson_t *reply = mongoc_bulkwriteexception_errorreply(from);
    const bson_t *errors = mongoc_bulkwriteexception_writeerrors(from);
    const bson_t *concern_errors = mongoc_bulkwriteexception_writeconcernerrors(from);

    mongoc_bulkwriteexception_error(from, &operation->error);
    bson_concat(&operation->reply, reply);
    if (errors) {
        BSON_APPEND_DOCUMENT(&operation->reply, "writeErrors", errors);
    }
    if (concern_errors) {
        BSON_APPEND_ARRAY(&operation->reply, "writeConcernErrors", concern_errors);
    }
}

static bool run_client_bulk_write(struct operation *operation)
{
    mongoc_bulkwrite_t *bulk = mongoc_client_bulkwrite_new(operation->object->client);
    const char *id = doc_text(&operation->arguments, "session", NULL);
    struct entity *session = id ? entity_get(operation->test, id, SESSION) : NULL;
    bool known = !id || session;
    bson_iter_t iter;

    if (session) {
        mongoc_bulkwrite_set_session(bulk, session->session);
    }
    doc_each(&operation->arguments, "models", &iter);
    while (known && !operation->failed && bson_iter_next(&iter)) {
        known = add_model(operation, bulk, &iter);
    }
    if (known && !operation->failed) {
        mongoc_bulkwriteopts_t *opts = bulk_options(operation);
        mongoc_bulkwritereturn_t got = mongoc_bulkwrite_execute(bulk, opts);
        if (got.res) {
            keep_result(operation, got.res);
        }
        if (got.exc) {
            keep_error(operation, got.exc);
        }
        outcome(operation, !got.exc);
        mongoc_bulkwriteresult_destroy(got.res);
        mongoc_bulkwriteexception_destroy(got.exc);
        mongoc_bulkwriteopts_destroy(opts);
    }
    mongoc_bulkwrite_destroy(bulk);
    return known;
}
#else
#define run_client_bulk_write NULL
#endif

const struct operation_row client_bulk_operations[] = {
    {CLIENT, "clientBulkWrite", run_client_bulk_write,
        "models session ordered verboseResults bypassDocumentValidation let comment writeConcern",
        "1.30"},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
