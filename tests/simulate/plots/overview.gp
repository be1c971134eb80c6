# The service's view of six strategies side by side: operations under way, and requests received.
load plots . "/common.gp"
set terminal svg size 1000,900 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,13"
set output figure
set multiplot title "Service's view after a spike at step 50 (means of 5 steps)" font ",16"
names = "none constant exponential random-exponential spec-client-bucket spec-small-bucket"
set xrange [0:1500]
set xtics 500
unset key
eval entry(1, 0.10, 0.94, "― operations under way", blue)
eval entry(2, 0.40, 0.94, "― requests received in a step", orange)
eval entry(3, 0.75, 0.94, "- - places of the service", grey)
set logscale y
set yrange [0.5:1500]
set ytics (1, 10, 100, 1000)
do for [i = 1:6] {
    name = word(names, i)
    left = (i % 2 == 1) ? 0.08 : 0.57
    row = (i - 1) / 2
    set lmargin at screen left; set rmargin at screen left + 0.41
    set tmargin at screen 0.88 - row * 0.285; set bmargin at screen 0.88 - row * 0.285 - 0.2
    set title title_of(name) font ",14" offset 0,-0.6
    set ylabel (i % 2 == 1 ? "count (log scale)" : "")
    set xlabel (row == 2 ? "step" : "")
    plot binned(name) using 1:7 with lines lw 2 lc rgb blue, \
         binned(name) using 1:4 with lines lw 1 lc rgb orange, \
         5 with lines dt 2 lw 1.2 lc rgb grey
}
unset multiplot
