"""Times vectorbt on the cases of bench/speed.ts that it can express, over a CSV of klines: prints JSON of M klines/s by case, [run, with statistics].

    python bench/compared-speed.py KLINES.csv
"""

import json
import sys
import time

import numpy
import pandas
import vectorbt

frame = pandas.read_csv(sys.argv[1])
columns = {name.lower(): frame[name].to_numpy(float) for name in frame.columns if name.lower() in ("open", "high", "low", "close")}
index = pandas.date_range("2015-09-25", periods=len(frame), freq="1min")
series = {name: pandas.Series(values, index=index) for name, values in columns.items()}
close = series["close"]


def run(fast, slow, share=None, stop=None):
    """Buys when the fast average rises above the slow one, and sells when it falls below, at the next open."""
    above = close.rolling(fast).mean() > close.rolling(slow).mean()
    entries = (above & ~above.shift(1, fill_value=False)).shift(1, fill_value=False)
    exits = (~above & above.shift(1, fill_value=False)).shift(1, fill_value=False)
    exits_by = {} if stop is None else {"sl_stop": stop, "sl_trail": True}
    size = {"size": 1} if share is None else {"size": share, "size_type": "percent"}
    return vectorbt.Portfolio.from_signals(
        close, entries, exits, price=series["open"], open=series["open"], high=series["high"], low=series["low"],
        fees=0.001, init_cash=10_000_000, freq="1min", **size, **exits_by,
    )


cases = {
    "SMA 10/50, fixed quantity": (10, 50),
    "SMA 10/50, share": (10, 50, 0.9),
    "SMA 10/50, trailing stop never hit": (10, 50, None, 0.5),
    "SMA 500/2500, share, trailing 5 %": (500, 2500, 0.5, 0.05),
}


def speeds(case, rounds=3):
    alone, with_statistics = [], []
    for _ in range(rounds):
        started = time.perf_counter()
        portfolio = run(*case)
        portfolio.orders.records  # noqa: B018
        alone.append(time.perf_counter() - started)
        portfolio.stats()
        with_statistics.append(time.perf_counter() - started)
    return [len(close) / min(times) / 1e6 for times in (alone, with_statistics)]


run(10, 50, 0.5, 0.05).stats()  # compiles
print(json.dumps({"version": vectorbt.__version__, "numpy": numpy.__version__, "speeds": {name: speeds(case) for name, case in cases.items()}}))
