"""A sweep into pandas, and a plot of it."""

import sys

import matplotlib

matplotlib.use("Agg")
import warpsim

study = warpsim.Study(
    "latencies",
    workloads=["reduction", "histogram"],
    grid={"scheduler": ["lrr", "gto"], "set": {"l2.latency": [60, 120, 240]}},
    size="tiny",
    repeats=1,
)
runs = study.run(sys.argv[1]).to_pandas()
runs["latency"] = runs["settings"].str.extract(r"l2.latency=(\d+)").astype(int)
table = runs.pivot_table(index="latency", columns=["workload", "scheduler"], values="cycles")
print(table)
table.plot(marker="o", ylabel="cycles").figure.savefig(f"{sys.argv[1]}/latencies.png")
