# The service's view of one strategy, `name`, over time. Means over 5 steps: 3,000 points a line would
# say no more and make a file of a megabyte.
load plots . "/common.gp"
set terminal svg size 900,720 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
file = data . "/service-" . name . ".tsv"
bin(x) = 5 * floor(x / 5) + 2.5
set multiplot title "Service's view: " . title_of(name) . " (means of 5 steps)" font ",16"
set lmargin at screen 0.10; set rmargin at screen 0.97
set xrange [0:3000]
unset key
top = 0.91; height = 0.155; gap = 0.055
do for [i = 1:4] {
    column = word("2 4 5 6", i)
    set tmargin at screen top - (i - 1) * (height + gap)
    set bmargin at screen top - (i - 1) * (height + gap) - height
    set yrange [0:*]
    set ytics autofreq
    set format x (i == 4 ? "%g" : "")
    if (i == 1) { set yrange [0:5.5]; set ytics 0,1,5 }
    if (i == 4) { set xlabel "step" }
    set label 1 word("queued,\\ of\\ 5\\ places|received\\ a\\ step|rejected\\ a\\ step|first\\ requests\\ a\\ step", 1) at graph 0,1.12
    set label 1 (i == 1 ? "requests in the queue (5 places)" : i == 2 ? "requests received in a step" : \
        i == 3 ? "requests rejected in a step" : "clients' first requests in a step") at graph 0.0,1.14 font ",13"
    plot file using (bin($1)):(column(int(word("2 4 5 6", i)))) smooth unique with filledcurves y1=0 \
        lc rgb word(blue . " " . orange . " " . red . " " . green, i) fs solid 0.85
}
unset multiplot
