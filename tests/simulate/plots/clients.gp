# The clients' view of one strategy: `name`.
load plots . "/common.gp"
set terminal svg size 900,440 dynamic background "white" font "DejaVu Sans,Helvetica,Arial,sans-serif,14"
set output figure
set title "Clients' view: " . title_of(name) font ",16"
set xlabel "clients, by latency"
set ylabel "steps until the end, or requests (log scale)"
set logscale y
set key opaque
set yrange [0.8:5000]
set xrange [0:*]
file = data . "/clients-" . name . ".tsv"
plot file using 1:(strcol(4) eq "succeeded" ? $2 : NaN) with points pt 7 ps 0.25 lc rgb blue title "latency (succeeded)", \
     file using 1:(strcol(4) eq "gave-up" ? $2 : NaN) with points pt 7 ps 0.25 lc rgb red title "time until it gave up", \
     file using 1:(strcol(4) eq "unfinished" ? $2 : NaN) with points pt 7 ps 0.25 lc rgb grey title "waiting at the end", \
     file using 1:3 with lines lw 1.2 lc rgb orange title "requests"
