# The clients' view of five strategies side by side.
load plots . "/common.gp"
set terminal svg size 1000,520 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set multiplot title "Clients' view: each strategy's 800 clients, by latency" font ",16"
names = "none constant exponential random-exponential spec-client-bucket"
colours = pink . " " . orange . " " . red . " " . blue . " " . green
set logscale y
set xrange [0:800]
set xtics 200
unset key
eval entry(1, 0.08, 0.89, "― no backoff", pink)
eval entry(2, 0.24, 0.89, "― constant", orange)
eval entry(3, 0.38, 0.89, "― exponential", red)
eval entry(4, 0.56, 0.89, "― random exponential", blue)
eval entry(5, 0.80, 0.89, "― specification", green)
set xlabel "clients, by latency"
set tmargin at screen 0.76; set bmargin at screen 0.15
do for [panel = 1:2] {
    set lmargin at screen (panel == 1 ? 0.08 : 0.57); set rmargin at screen (panel == 1 ? 0.49 : 0.98)
    set yrange [(panel == 1 ? 3 : 0.8):(panel == 1 ? 5000 : 500)]
    set title (panel == 1 ? "steps until the end (log scale)" : "requests (log scale, means of 10 clients)") font ",14"
    plot for [i = 1:5] data . "/clients-" . word(names, i) . ".tsv" \
        using (panel == 1 ? $1 : 10 * floor($1 / 10) + 5):(column(panel + 1)) smooth unique \
        with lines lw 2 lc rgb word(colours, i)
}
unset multiplot
