/*
 * What the article's author found in one run, as claims that a study can
 * judge: both exponential strategies beat the other three in latency and in
 * requests; of the two, the random one has the better tail, the other one the
 * slightly better 75th percentile and slightly fewer requests.
 */
#ifndef SIM_CLAIMS_H
#define SIM_CLAIMS_H

#include "study.h"

/* The metric is lower for one than for the other. */
struct sim_claim {
    enum sim_strategy_kind better, worse;
    enum sim_metric metric;
};

#define SIM_MOST_CLAIMS 64

struct sim_claims {
    struct sim_claim list[SIM_MOST_CLAIMS];
    size_t count;
};

void sim_claims_list(struct sim_claims *claims);

/* By how much the worse is worse. */
struct sim_difference sim_claim_judge(const struct sim_study *study, const struct sim_claim *claim);

double sim_mean_of(const double *values, uint32_t count);

/* Every strategy's figures, and all claims of the article, one by one. */
bool sim_study_report(const struct sim_options *options, FILE *out, const char *directory);

/* The claims again, and the specification's figures, for other choices where
 * the article names no number. */
bool sim_study_sensitivity(const struct sim_options *options, FILE *out, const char *directory);

#endif
