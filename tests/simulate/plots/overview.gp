# The service's view of six strategies side by side: operations under way, and requests received.
load plots . "/common.gp"
set terminal svg size 1000,760 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,13"
set output figure
set multiplot title "Service's view after a spike at step 50 (means of 5 steps)" font ",16"
bin(x) = 5 * floor(x / 5) + 2.5
names = "none constant exponential random-exponential spec-client-bucket spec-small-bucket"
set xrange [0:1500]
set xtics 500
set logscale y
set yrange [0.5:1500]
set ytics (1, 10, 100, 1000)
do for [i = 1:6] {
    name = word(names, i)
    left = (i % 2 == 1) ? 0.08 : 0.57
    row = (i - 1) / 2
    set lmargin at screen left; set rmargin at screen left + 0.41
    set tmargin at screen 0.845 - row * 0.265; set bmargin at screen 0.845 - row * 0.265 - 0.19
    set title title_of(name) font ",14" offset 0,-0.6
    if (i == 2) { set key at screen 0.98,0.93 right top horizontal noreverse Right } else { unset key }
    set ylabel (i % 2 == 1 ? "count (log scale)" : "")
    set xlabel (row == 2 ? "step" : "")
    file = data . "/service-" . name . ".tsv"
    plot file using (bin($1)):7 smooth unique with lines lw 2 lc rgb blue title "operations under way", \
         file using (bin($1)):4 smooth unique with lines lw 1 lc rgb orange title "requests received in a step", \
         5 with lines dt 2 lw 1.2 lc rgb grey title "places of the service"
}
unset multiplot
