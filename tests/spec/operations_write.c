/* Operations of a collection that write. */
#include "tests/spec/operations.h"
#include "tests/spec/results.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- insert, update, delete ---------------------------------------------------------------- */

static bool run_insert_one(struct operation *operation)
{
    bson_t document, result = BSON_INITIALIZER;
    bson_iter_t id;
    bool ok;

    if (!argument_view(operation, "document", &document)) {
        return false;
    }
    bson_destroy(&operation->reply);
    ok = mongoc_collection_insert_one(operation->object->collection, &document, &operation->opts,
        &operation->reply, &operation->error);
    if (ok && !is_unacknowledged(operation)) {
        if (doc_find(&document, "_id", &id)) {
            doc_append(&result, "insertedId", &id);
        }
        result_document(operation, &result);
    }
    bson_destroy(&result);
    return outcome(operation, ok);
}

static bool run_insert_many(struct operation *operation)
{
    bson_t list, ids = BSON_INITIALIZER, *documents;
    const bson_t **pointers;
    bson_iter_t iter;
    uint32_t count, i = 0;
    bool ok;

    if (!argument_view(operation, "documents", &list)) {
        return false;
    }
    count = (uint32_t)bson_count_keys(&list);
    documents = new_aligned((count + 1) * sizeof *documents);
    pointers = bson_malloc0((count + 1) * sizeof(const bson_t *));
    for (bson_iter_init(&iter, &list); bson_iter_next(&iter); i++) {
        iter_view(&iter, &documents[i]);
        append_id(&ids, i, &documents[i]);
        pointers[i] = &documents[i];
    }
    bson_destroy(&operation->reply);
    ok = mongoc_collection_insert_many(operation->object->collection, pointers, count,
        &operation->opts, &operation->reply, &operation->error);
    outcome(operation, ok);
    result_bulk(operation, &ids);
    free(documents);
    bson_free(pointers);
    bson_destroy(&ids);
    return true;
}

typedef bool update_call(mongoc_collection_t *, const bson_t *, const bson_t *, const bson_t *,
    bson_t *, bson_error_t *);

static bool update_with(struct operation *operation, update_call *call, const char *by)
{
    bson_t filter, update;

    if (!argument_view(operation, "filter", &filter) || !argument_view(operation, by, &update)) {
        return false;
    }
    bson_destroy(&operation->reply);
    outcome(operation, call(operation->object->collection, &filter, &update, &operation->opts,
                           &operation->reply, &operation->error));
    result_update(operation);
    return true;
}

static bool run_update_one(struct operation *operation)
{
    return update_with(operation, mongoc_collection_update_one, "update");
}

static bool run_update_many(struct operation *operation)
{
    return update_with(operation, mongoc_collection_update_many, "update");
}

static bool run_replace_one(struct operation *operation)
{
    return update_with(operation, mongoc_collection_replace_one, "replacement");
}

typedef bool delete_call(
    mongoc_collection_t *, const bson_t *, const bson_t *, bson_t *, bson_error_t *);

static bool delete_with(struct operation *operation, delete_call *call)
{
    bson_t filter;

    if (!argument_view(operation, "filter", &filter)) {
        return false;
    }
    bson_destroy(&operation->reply);
    outcome(operation, call(operation->object->collection, &filter, &operation->opts,
                           &operation->reply, &operation->error));
    result_delete(operation);
    return true;
}

static bool run_delete_one(struct operation *operation)
{
    return delete_with(operation, mongoc_collection_delete_one);
}

static bool run_delete_many(struct operation *operation)
{
    return delete_with(operation, mongoc_collection_delete_many);
}

/* ---- find and modify ----------------------------------------------------------------------- */

/* Sets the flags and options that the driver has functions for. */
static bool modify_options(struct operation *operation, mongoc_find_and_modify_opts_t *opts,
    mongoc_find_and_modify_flags_t flags)
{
    const bson_t *arguments = &operation->arguments;
    const char *which = doc_text(arguments, "returnDocument", "Before");
    bson_t view;

    if (strcasecmp(which, "Before") != 0 && strcasecmp(which, "After") != 0) {
        return fail(operation->test, "returnDocument is Before or After, not '%s'", which);
    }
    if (strcasecmp(which, "After") == 0) {
        flags |= MONGOC_FIND_AND_MODIFY_RETURN_NEW;
    }
    if (doc_bool(arguments, "upsert", false)) {
        flags |= MONGOC_FIND_AND_MODIFY_UPSERT;
    }
    mongoc_find_and_modify_opts_set_flags(opts, flags);
    if (doc_view(arguments, "sort", &view)) {
        mongoc_find_and_modify_opts_set_sort(opts, &view);
    }
    if (doc_view(arguments, "projection", &view)) {
        mongoc_find_and_modify_opts_set_fields(opts, &view);
    }
    if (doc_has(arguments, "bypassDocumentValidation")) {
        mongoc_find_and_modify_opts_set_bypass_document_validation(
            opts, doc_bool(arguments, "bypassDocumentValidation", false));
    }
    if (doc_has(arguments, "maxTimeMS")) {
        mongoc_find_and_modify_opts_set_max_time_ms(
            opts, (uint32_t)doc_int(arguments, "maxTimeMS", 0));
    }
    return mongoc_find_and_modify_opts_append(opts, &operation->opts) ||
           fail(operation->test, "%s: the driver refuses the options", operation->name);
}

static bool modify(struct operation *operation, const char *by)
{
    mongoc_find_and_modify_opts_t *opts;
    bson_t filter, update;
    bson_iter_t value;
    bool ok = false;

    if (!argument_view(operation, "filter", &filter) ||
        (by && !argument_view(operation, by, &update))) {
        return false;
    }
    opts = mongoc_find_and_modify_opts_new();
    if (by) {
        mongoc_find_and_modify_opts_set_update(opts, &update);
    }
    if (modify_options(
            operation, opts, by ? MONGOC_FIND_AND_MODIFY_NONE : MONGOC_FIND_AND_MODIFY_REMOVE)) {
        bson_destroy(&operation->reply);
        ok = mongoc_collection_find_and_modify_with_opts(
            operation->object->collection, &filter, opts, &operation->reply, &operation->error);
        if (ok && doc_find(&operation->reply, "value", &value)) {
            result_iter(operation, &value);
        }
    }
    mongoc_find_and_modify_opts_destroy(opts);
    return operation->test->verdict == PASSED && outcome(operation, ok);
}

static bool run_find_one_and_update(struct operation *operation)
{
    return modify(operation, "update");
}

static bool run_find_one_and_replace(struct operation *operation)
{
    return modify(operation, "replacement");
}

static bool run_find_one_and_delete(struct operation *operation)
{
    return modify(operation, NULL);
}

/* ---- bulk write ---------------------------------------------------------------------------- */

typedef bool bulk_update(
    mongoc_bulk_operation_t *, const bson_t *, const bson_t *, const bson_t *, bson_error_t *);
typedef bool bulk_remove(mongoc_bulk_operation_t *, const bson_t *, const bson_t *, bson_error_t *);

static const struct {
    const char *name, *by; /* by: where the update is; NULL for a delete */
    bulk_update *update;
    bulk_remove *remove;
} bulk_models[] = {
    {"updateOne", "update", mongoc_bulk_operation_update_one_with_opts, NULL},
    {"updateMany", "update", mongoc_bulk_operation_update_many_with_opts, NULL},
    {"replaceOne", "replacement", mongoc_bulk_operation_replace_one_with_opts, NULL},
    {"deleteOne", NULL, NULL, mongoc_bulk_operation_remove_one_with_opts},
    {"deleteMany", NULL, NULL, mongoc_bulk_operation_remove_many_with_opts},
};

/* Adds {name: {filter, update, ...}}; what the driver refuses is the operation's error. */
static bool add_model(struct operation *operation, mongoc_bulk_operation_t *bulk,
    const bson_iter_t *model, uint32_t index, bson_t *ids)
{
    const char *name = bson_iter_key(model);
    bson_t view, filter, update, document, opts = BSON_INITIALIZER;
    bool known = false, added = false;

    iter_view(model, &view);
    doc_view(&view, "filter", &filter);
    doc_append_others(&opts, &view, "filter update replacement document");
    if (strcmp(name, "insertOne") == 0) {
        known = true;
        doc_view(&view, "document", &document);
        append_id(ids, index, &document);
        added = mongoc_bulk_operation_insert_with_opts(bulk, &document, NULL, &operation->error);
    }
    for (size_t i = 0; !known && i < sizeof bulk_models / sizeof *bulk_models; i++) {
        if (strcmp(bulk_models[i].name, name) != 0) {
            continue;
        }
        known = true;
        if (bulk_models[i].by) {
            doc_view(&view, bulk_models[i].by, &update);
        }
        added = bulk_models[i].update
                    ? bulk_models[i].update(bulk, &filter, &update, &opts, &operation->error)
                    : bulk_models[i].remove(bulk, &filter, &opts, &operation->error);
    }
    bson_destroy(&opts);
    operation->failed = !added;
    return known || fail(operation->test, "bulkWrite: unknown request '%s'", name);
}

static bool run_bulk_write(struct operation *operation)
{
    mongoc_bulk_operation_t *bulk = mongoc_collection_create_bulk_operation_with_opts(
        operation->object->collection, &operation->opts);
    bson_t model, ids = BSON_INITIALIZER;
    bson_iter_t iter, request;
    uint32_t index = 0;
    bool known = true;

    if (doc_has(&operation->arguments, "bypassDocumentValidation")) {
        mongoc_bulk_operation_set_bypass_document_validation(
            bulk, doc_bool(&operation->arguments, "bypassDocumentValidation", false));
    }
    for (doc_each(&operation->arguments, "requests", &iter);
         known && !operation->failed && bson_iter_next(&iter); index++) {
        iter_view(&iter, &model);
        known = doc_first(&model, &request) ? add_model(operation, bulk, &request, index, &ids)
                                            : fail(operation->test, "bulkWrite: empty request");
    }
    if (known && !operation->failed) {
        bson_destroy(&operation->reply);
        outcome(
            operation, mongoc_bulk_operation_execute(bulk, &operation->reply, &operation->error));
        result_bulk(operation, &ids);
    }
    mongoc_bulk_operation_destroy(bulk);
    bson_destroy(&ids);
    return known;
}

#define MODIFY "filter sort projection returnDocument upsert bypassDocumentValidation maxTimeMS"

const struct operation_row write_operations[] = {
    {COLLECTION, "bulkWrite", run_bulk_write, "requests bypassDocumentValidation", NULL},
    {COLLECTION, "deleteMany", run_delete_many, "filter", NULL},
    {COLLECTION, "deleteOne", run_delete_one, "filter", NULL},
    {COLLECTION, "findOneAndDelete", run_find_one_and_delete, MODIFY, NULL},
    {COLLECTION, "findOneAndReplace", run_find_one_and_replace, MODIFY " replacement", NULL},
    {COLLECTION, "findOneAndUpdate", run_find_one_and_update, MODIFY " update", NULL},
    {COLLECTION, "insertMany", run_insert_many, "documents", NULL},
    {COLLECTION, "insertOne", run_insert_one, "document", NULL},
    {COLLECTION, "replaceOne", run_replace_one, "filter replacement", NULL},
    {COLLECTION, "updateMany", run_update_many, "filter update", NULL},
    {COLLECTION, "updateOne", run_update_one, "filter update", NULL},
    {TEST_RUNNER, NULL, NULL, NULL, NULL},
};
