#include "engine.h"

static void count(const struct mbp_engine *engine, enum mbp_counter counter, uint64_t amount)
{
    mbp_slot_count(engine->slot, counter, amount);
}

static void deposit(const struct mbp_engine *engine, mbp_millitokens amount)
{
    const mbp_millitokens added = amount ? mbp_bucket_deposit(engine->bucket, amount) : 0;
    if (added) {
        count(engine, MBP_COUNT_tokens_deposited, added);
    }
}

static bool pay(const struct mbp_engine *engine, mbp_millitokens cost)
{
    const bool paid = mbp_bucket_consume(engine->bucket, cost);
    if (paid) {
        count(engine, MBP_COUNT_tokens_consumed, cost);
    }
    return paid;
}

static void count_refusal(const struct mbp_engine *engine, enum mbp_refusal refusal)
{
    static const enum mbp_counter counters[] = {
        [MBP_REFUSED_NOT_RETRYABLE] = MBP_COUNT_refused_not_retryable,
        [MBP_REFUSED_DISABLED] = MBP_COUNT_refused_disabled,
        [MBP_REFUSED_ATTEMPTS] = MBP_COUNT_refused_attempts,
        [MBP_REFUSED_DEADLINE] = MBP_COUNT_refused_deadline,
        [MBP_REFUSED_BUDGET] = MBP_COUNT_refused_budget,
    };
    count(engine, counters[refusal], 1);
}

struct mbp_operation mbp_engine_begin(const struct mbp_engine *engine, uint64_t now_ms)
{
    return (struct mbp_operation){.deadline_ms = mbp_policy_deadline_ms(engine->policy, now_ms)};
}

void mbp_engine_settle_first_success(const struct mbp_engine *engine)
{
    count(engine, MBP_COUNT_operations, 1);
    count(engine, MBP_COUNT_first_successes, 1);
    if (!engine->observe) {
        deposit(engine, engine->policy->numbers.return_rate);
    }
}

static void refuse(struct mbp_verdict *verdict, enum mbp_refusal refusal)
{
    verdict->retry = false;
    verdict->avoid_server = false;
    verdict->refusal = refusal;
}

/* What would have been done with the same bucket; a look at it, no more. */
static void observe(const struct mbp_engine *engine, struct mbp_verdict *verdict)
{
    if (verdict->retry && mbp_bucket_balance(engine->bucket) < verdict->cost) {
        refuse(verdict, MBP_REFUSED_BUDGET);
    }
    if (verdict->retry) {
        count(engine, MBP_COUNT_observed_retries, 1);
        refuse(verdict, MBP_REFUSED_DISABLED);
    } else if (verdict->refusal != MBP_REFUSED_NOT) {
        count_refusal(engine, verdict->refusal);
    }
}

/* Pays for the retry, if there is to be one, and counts what becomes of it. */
static void conclude(const struct mbp_engine *engine, struct mbp_operation *operation,
    struct mbp_verdict *verdict, enum mbp_counter retries)
{
    if (verdict->retry && !pay(engine, verdict->cost)) {
        refuse(verdict, MBP_REFUSED_BUDGET);
    }
    if (verdict->retry) {
        operation->retries++;
        operation->paid = true;
        count(engine, retries, 1);
        count(engine, MBP_COUNT_backoff_ms, verdict->delay_ms);
    } else if (verdict->refusal != MBP_REFUSED_NOT) {
        count_refusal(engine, verdict->refusal);
    }
}

struct mbp_verdict mbp_engine_settle(const struct mbp_engine *engine,
    struct mbp_operation *operation, const struct mbp_attempt *attempt)
{
    const bool was_retry = operation->retries > 0;
    if (attempt->ok && !was_retry) {
        mbp_engine_settle_first_success(engine);
        return (struct mbp_verdict){.deposit = engine->policy->numbers.return_rate};
    }

    struct mbp_verdict verdict =
        mbp_policy_decide(engine->policy, operation, attempt, &engine->jitter);
    if (!was_retry) {
        count(engine, MBP_COUNT_operations, 1);
    }
    if (attempt->ok) {
        count(engine, MBP_COUNT_retry_successes, 1);
    } else if (attempt->labels & MBP_LABEL_OVERLOADED) {
        count(engine, MBP_COUNT_overload_errors, 1);
    }
    if (engine->observe) {
        observe(engine, &verdict);
        return verdict;
    }

    deposit(engine, verdict.deposit);
    conclude(engine, operation, &verdict, MBP_COUNT_retries);
    return verdict;
}

struct mbp_verdict mbp_engine_settle_connection(const struct mbp_engine *engine,
    struct mbp_operation *operation, const struct mbp_attempt *attempt)
{
    struct mbp_verdict verdict =
        mbp_policy_decide(engine->policy, operation, attempt, &engine->jitter);
    count(engine, MBP_COUNT_connection_overloads, 1);
    if (engine->observe) {
        observe(engine, &verdict);
    } else {
        conclude(engine, operation, &verdict, MBP_COUNT_connection_retries);
    }
    return verdict;
}

void mbp_engine_refund(const struct mbp_engine *engine)
{
    if (!engine->observe) {
        deposit(engine, engine->policy->numbers.retry_cost);
    }
}
