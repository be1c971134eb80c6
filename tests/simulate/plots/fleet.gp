# Amplification in an outage, by place of the budget, against hosts and against processes.
load plots . "/common.gp"
set terminal svg size 1000,520 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set multiplot title "Requests for an operation in an outage, by what shares a bucket of 1,000 tokens" font ",16"
rows(scope, where) = "< awk -F'\\t' '$1 == \"outage\" && $5 == \"" . scope . "\" && " . where . "' '" . data . "/fleet.tsv'"
set logscale xy
unset key
eval entry(1, 0.20, 0.87, "● each client", red)
eval entry(2, 0.38, 0.87, "■ each process", orange)
eval entry(3, 0.57, 0.87, "▲ each host", blue)
eval entry(4, 0.74, 0.87, "◆ the whole fleet", green)
set yrange [0.95:8]
set ytics (1, 1.5, 2, 3, 4, 6)
set format x "%'.0f"
set tmargin at screen 0.80; set bmargin at screen 0.17
do for [panel = 1:2] {
    where = panel == 1 ? "$3 == 1" : "$2 == 10"
    x = panel == 1 ? 2 : 3
    set lmargin at screen (panel == 1 ? 0.10 : 0.57); set rmargin at screen (panel == 1 ? 0.49 : 0.97)
    set xrange [0.8:(panel == 1 ? 1300 : 130)]
    set xtics (1, 10, 100, 1000)
    set xlabel (panel == 1 ? "hosts, with one process each" : "processes on each of 10 hosts")
    set ylabel (panel == 1 ? "requests for an operation (log scale)" : "")
    plot rows("client", where) using x:6 with linespoints pt 7 ps 1.0 lw 2 lc rgb red, \
         rows("process", where) using x:6 with linespoints pt 5 ps 1.3 lw 2 lc rgb orange, \
         rows("host", where) using x:6 with linespoints pt 9 ps 1.1 lw 2 dt 2 lc rgb blue, \
         rows("fleet", where) using x:6 with linespoints pt 13 ps 1.1 lw 2 lc rgb green
}
unset multiplot
