# What all figures share. Called with the variables `data` (directory of the tables) and `figure`
# (file to write). The colours are Okabe and Ito's, which are told apart with any colour vision.
blue = "#0072B2"; orange = "#E69F00"; green = "#009E73"; red = "#D55E00"
pink = "#CC79A7"; sky = "#56B4E9"; grey = "#666666"; light = "#DDDDDD"

set datafile separator "\t"
set datafile missing "never"
set encoding utf8
set tics nomirror out textcolor rgb "#333333"
set border 3 lc rgb "#888888"
set grid y back lc rgb light lw 1 lt 1
set key top left Left reverse samplen 1.5 spacing 1.15
# A legend in one line above the plots: gnuplot breaks a horizontal key where it likes. To be eval'd.
entry(number, x, y, text, colour) = \
    sprintf("set label %d '%s' at screen %g,%g left tc rgb '%s' font ',14'", 10 + number, text, x, y, colour)
set style fill solid 1.0 noborder
strategies = "none constant uniform exponential random-exponential spec-no-bucket spec-client-bucket spec-shared-bucket spec-small-bucket"
# 5-step means of a service table: 3,000 points a line would say no more and make files of a megabyte.
binned(name) = "< awk -F'\\t' 'NR > 1 { n++; for (i = 2; i <= NF; i++) s[i] += $i; if (n == 5) { printf \"%s\", $1 - 1.5; for (i = 2; i <= NF; i++) { printf \"\\t%s\", s[i] / 5; s[i] = 0 } print \"\"; n = 0 } }' '" . data . "/service-" . name . ".tsv'"
title_of(name) = name eq "none" ? "no backoff" : name eq "constant" ? "constant backoff, 5 steps" : \
    name eq "uniform" ? "uniform random backoff, 0 to 5 steps" : \
    name eq "exponential" ? "exponential backoff" : \
    name eq "random-exponential" ? "random exponential backoff" : \
    name eq "spec-no-bucket" ? "specification, no bucket" : \
    name eq "spec-client-bucket" ? "specification, bucket per client" : \
    name eq "spec-shared-bucket" ? "specification, shared bucket" : \
    "specification, shared bucket of 100 tokens"
metric(name) = "< awk -F'\\t' '$2 == \"" . name . "\"' '" . data . "/study.tsv'"
set_strategies = 'set xtics ("no\nbackoff" 0, "constant" 1, "uniform\nrandom" 2, "exponential" 3, "random\nexponential" 4, "spec.,\nno bucket" 5, "spec.,\nbucket per\nclient" 6, "spec.,\nshared\nbucket" 7, "spec.,\nshared, 100\ntokens" 8) scale 0'
