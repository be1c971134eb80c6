# Requests by strategy, and what became of the operations, over all seeds of the study.
load plots . "/common.gp"
set terminal svg size 1000,760 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set multiplot
set lmargin at screen 0.105; set rmargin at screen 0.98
set xrange [-0.6:8.6]
set boxwidth 0.62
set tmargin at screen 0.93; set bmargin at screen 0.53
set title "Requests sent for 800 operations: mean of 100 runs" font ",16"
set ylabel "requests (log scale)"
set logscale y
set yrange [500:200000]
set xtics ("" 0) scale 0
unset key
plot metric("requests") using 0:3 with boxes lc rgb blue, \
     metric("requests") using 0:3:(sprintf("%.0f", $3)) with labels offset 0,0.8 font ",13", \
     800 with lines dt 2 lw 1.5 lc rgb grey
set tmargin at screen 0.40; set bmargin at screen 0.14
set title "What became of the operations by the end" font ",16" offset 0,1.6
set ylabel "operations"
unset logscale
set yrange [0:800]
eval set_strategies
eval entry(1, 0.16, 0.435, "■ succeeded", sky)
eval entry(2, 0.34, 0.435, "■ gave up: an error for the application", red)
eval entry(3, 0.76, 0.435, "■ still trying", grey)
joined = "< awk -F'\\t' '$2 == \"gave up\" { g[$1] = $3 } $2 == \"unfinished\" { print $1 \"\\t\" g[$1] \"\\t\" $3 }' '" . data . "/study.tsv'"
plot joined using 0:(800) with boxes lc rgb sky notitle, \
     joined using 0:($2+$3) with boxes lc rgb red notitle, \
     joined using 0:3 with boxes lc rgb grey notitle
unset multiplot
