/*
 * The token bucket that pays for retries.
 *
 * Balance and capacity live together in one 64-bit word, so every change is a
 * single compare-and-swap: there is no state in between for a killed process
 * to leave behind, and "balance <= capacity" can't be broken by a change of
 * the capacity. Amounts are thousandths of a token, so that the specified
 * return rate of 0.1 is exact.
 *
 * All functions are lock-free and safe from any thread of any process that
 * maps the word.
 */
#ifndef MBP_BUCKET_H
#define MBP_BUCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* An amount of tokens, in thousandths. */
typedef uint32_t mbp_millitokens;

#define MBP_TOKEN ((mbp_millitokens)1000)
#define MBP_BUCKET_MAX_TOKENS 4000000u

struct mbp_bucket {
    _Atomic uint64_t word; /* capacity in the upper half, balance in the lower */
};

/* Fills a bucket whose word is still zero; a bucket already set up, full or
 * not, is left as it is. Any number of processes may call it at once. */
void mbp_bucket_init_once(struct mbp_bucket *bucket, mbp_millitokens capacity);

/* Whether the word is one that this module can have written. */
bool mbp_bucket_is_valid(const struct mbp_bucket *bucket);

/* Takes the whole amount or, when the balance is too small, nothing. */
bool mbp_bucket_consume(struct mbp_bucket *bucket, mbp_millitokens amount);

/* Adds up to the amount, never past the capacity, and returns what was added.
 * Writes nothing when the bucket is full: success must not make processes
 * fight for the cache line. */
mbp_millitokens mbp_bucket_deposit(struct mbp_bucket *bucket, mbp_millitokens amount);

/* Changes the capacity; a balance above it is cut down to it. */
void mbp_bucket_set_capacity(struct mbp_bucket *bucket, mbp_millitokens capacity);

mbp_millitokens mbp_bucket_balance(const struct mbp_bucket *bucket);

mbp_millitokens mbp_bucket_capacity(const struct mbp_bucket *bucket);

#endif
