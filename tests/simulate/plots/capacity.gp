# How many tokens a host should have: the range, for a service of one size and more and more hosts.
load plots . "/common.gp"
set terminal svg size 900,520 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set title "Tokens for each host, when N hosts share one service (1,600 operations a second)" font ",16"
set logscale xy
set xrange [0.5:2000]
set yrange [10:100000]
set format x "%'.0f"
set format y "%'.0f"
set xlabel "hosts N (log scale)"
set ylabel "tokens in a host's bucket (log scale)"
set key bottom left noreverse Left reverse
rows = "< awk -F'\\t' '$2 == 100000' '" . data . "/capacity.tsv'"
set label 1 "more: in an outage more than 1.5 requests for an operation" at 1500,20000 right tc rgb red
set label 2 "fewer: part of a burst\nof 2 % of the clients fails" at 0.6,580 left tc rgb grey
plot rows using 1:4:5 with filledcurves lc rgb sky fs solid 0.35 title "good", \
     rows using 1:5 with linespoints pt 9 ps 1.1 lw 2 lc rgb red title "at most", \
     rows using 1:4 with linespoints pt 11 ps 1.1 lw 2 lc rgb grey title "at least", \
     1000 with lines dt 2 lw 2 lc rgb blue title "the specification's 1,000"
