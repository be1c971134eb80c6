# Latency by strategy, over all seeds of the study.
load plots . "/common.gp"
set terminal svg size 1000,620 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set title "Latency of operations by strategy: mean of 100 runs; bars hold 95 of them" font ",16" offset 0,1.7
set ylabel "steps until the answer (log scale)"
set logscale y
set yrange [3:5000]
set xrange [-0.6:8.6]
eval set_strategies
unset key
eval entry(1, 0.16, 0.91, "● median", blue)
eval entry(2, 0.32, 0.91, "■ 75th percentile", green)
eval entry(3, 0.53, 0.91, "▲ 99th percentile", orange)
eval entry(4, 0.75, 0.91, "◆ slowest", red)
set tmargin at screen 0.87; set bmargin at screen 0.15; set lmargin at screen 0.105; set rmargin at screen 0.98
set label 1 "still unfinished at the end,\nso more than this" at 1,1350 center tc rgb grey font ",12"
set label 2 "without those that gave up (see the requests)" at 6.5,150 center tc rgb grey font ",12"
plot metric("latency p50") using ($0-0.24):3:4:5 with yerrorbars pt 7 ps 0.9 lw 1.5 lc rgb blue, \
     metric("latency p75") using ($0-0.08):3:4:5 with yerrorbars pt 5 ps 0.9 lw 1.5 lc rgb green, \
     metric("latency p99") using ($0+0.08):3:4:5 with yerrorbars pt 9 ps 1.1 lw 1.5 lc rgb orange, \
     metric("latency max") using ($0+0.24):3:4:5 with yerrorbars pt 13 ps 1.1 lw 1.5 lc rgb red
