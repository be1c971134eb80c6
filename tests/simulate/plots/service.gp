# The service's view of one strategy, `name`, over time.
load plots . "/common.gp"
set terminal svg size 900,720 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set multiplot title "Service's view: " . title_of(name) . " (means of 5 steps)" font ",16"
set lmargin at screen 0.10; set rmargin at screen 0.97
set xrange [0:*]
unset key
top = 0.91; height = 0.155; gap = 0.055
do for [i = 1:4] {
    set tmargin at screen top - (i - 1) * (height + gap)
    set bmargin at screen top - (i - 1) * (height + gap) - height
    set yrange [0:*]
    set ytics autofreq
    if (i > 1) { set ytics 0,10 }
    set format x (i == 4 ? "%g" : "")
    if (i == 1) { set yrange [0:5.5]; set ytics 0,1,5 }
    if (i == 4) { set xlabel "step" }
    set label 1 (i == 1 ? "requests in the queue (5 places)" : i == 2 ? "requests received in a step" : \
        i == 3 ? "requests rejected in a step" : "clients' first requests in a step") at graph 0.0,1.14 font ",13"
    plot binned(name) using 1:(column(int(word("2 4 5 6", i)))) with filledcurves y1=0 \
        lc rgb word(blue . " " . orange . " " . red . " " . green, i) fs solid 1.0
}
unset multiplot
