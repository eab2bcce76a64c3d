"""Writes test/indicators/talib.jsonl: values of TA-Lib over bundled klines, which our indicators are compared with.

    python3 -m venv var/talib && var/talib/bin/pip install TA-Lib==0.8.2
    var/talib/bin/python scripts/talib-values.py
"""

import csv
import gzip
import json
import pathlib

import numpy as np
import talib as ta

root = pathlib.Path(__file__).resolve().parent.parent
data = "BTCUSDT-15m-2025-10_2026-03.csv.gz"
klines = 1_000

with gzip.open(root / "backtests/data" / data, "rt") as file:
    rows = [[float(value) for value in row] for row in list(csv.reader(file))[1 : klines + 1]]
_, o, h, l, c, v = (np.array(column) for column in zip(*rows))
typical = (h + l + c) / 3

mean, exponential = 0, 1
cases = {
    "sma('close', 20)": ta.SMA(c, 20),
    "sma('volume', 50)": ta.SMA(v, 50),
    "ema('close', 20)": ta.EMA(c, 20),
    "wma('close', 20)": ta.WMA(c, 20),
    "dema('close', 20)": ta.DEMA(c, 20),
    "tema('close', 20)": ta.TEMA(c, 20),
    "hma('close', 20)": ta.HMA(c, 20),
    "kama('close', 10)": ta.KAMA(c, 10),
    "vwma('close', 20)": ta.VWMA(c, v, 20),
    "anchoredVwap(first)": ta.VWAP(h, l, c, v),
    "bollinger('close', 20, 2)": dict(zip(("upper", "middle", "lower"), ta.BBANDS(c, 20, 2, 2, mean))),
    "keltner('hlc3', 20, 10, 2)": dict(zip(("upper", "middle", "lower"), ta.KC(h, l, c, 20, 10, 2))),
    "donchian(20)": dict(zip(("upper", "middle", "lower"), ta.DONCHIAN(h, l, 20))),
    "supertrend(10, 3)": dict(zip(("line", "direction"), ta.SUPERTREND(h, l, c, 10, 3))),
    "parabolicSar(0.02, 0.2)": ta.SAR(h, l, 0.02, 0.2),
    "macd('close', 12, 26, 9)": dict(zip(("line", "signal", "histogram"), ta.MACD(c, 12, 26, 9))),
    "adx(14)": {"adx": ta.ADX(h, l, c, 14), "plusDI": ta.PLUS_DI(h, l, c, 14), "minusDI": ta.MINUS_DI(h, l, c, 14)},
    "aroon(14)": dict(zip(("down", "up"), ta.AROON(h, l, 14))) | {"oscillator": ta.AROONOSC(h, l, 14)},
    "stochastic(14, 3, 3)": dict(zip(("k", "d"), ta.STOCH(h, l, c, 14, 3, mean, 3, mean))),
    "stochRsi('close', 14, 5, 1, 3)": dict(zip(("k", "d"), ta.STOCHRSI(c, 14, 5, 3, mean))),
    "williamsR(14)": ta.WILLR(h, l, c, 14),
    "cci('hlc3', 20)": ta.CCI(h, l, c, 20),
    "mfi(14)": ta.MFI(h, l, c, v, 14),
    "cmo('close', 14)": ta.CMO(c, 14),
    "cmo('close', 14, 'sum')": ta.CMOU(c, 14),
    "roc('close', 10)": ta.ROC(c, 10),
    "momentum('close', 10)": ta.MOM(c, 10),
    "trix('close', 15)": ta.TRIX(c, 15),
    "ppo('close', 12, 26, 9)": {"line": ta.PPO(c, 12, 26, exponential)},
    "ultimateOscillator(7, 14, 28)": ta.ULTOSC(h, l, c, 7, 14, 28),
    "obv()": ta.OBV(c, v),
    "accumulationDistribution()": ta.AD(h, l, c, v),
    "chaikinOscillator(3, 10)": ta.ADOSC(h, l, c, v, 3, 10),
    "atr(14)": ta.ATR(h, l, c, 14),
    "natr(14)": ta.NATR(h, l, c, 14),
    "trueRange()": ta.TRANGE(h, l, c),
    "rsi('close', 14)": ta.RSI(c, 14),
    "linearRegression('close', 14)": {"value": ta.LINEARREG(c, 14), "slope": ta.LINEARREG_SLOPE(c, 14)},
    "correlation('high', 'volume', 30)": ta.CORREL(h, v, 30),
    "beta('close', 'open', 10)": ta.BETA(o, c, 10),
    "percentRank('close', 100)": ta.PERCENTRANK(c, 100),
    "highest('high', 20)": ta.MAX(h, 20),
    "lowest('low', 20)": ta.MIN(l, 20),
    "stdev('close', 20)": ta.STDDEV(c, 20),
    "heikinAshi()": dict(zip(("open", "high", "low", "close"), ta.HA(o, h, l, c))),
}


def sampled(values):
    """The first row with a value, and the values of rows from there: the first five and every 40th."""
    # Integers have no NaN: TA-Lib gives 0 for a direction that is not known yet.
    known = values != 0 if np.issubdtype(values.dtype, np.integer) else ~np.isnan(values)
    first = int(np.argmax(known))
    rows = [*range(first, first + 5), *range(first + 40, klines, 40)]
    return {"first": first, "values": [[row, float(values[row])] for row in rows]}


def lines(result):
    return {name: sampled(line) for name, line in (result if isinstance(result, dict) else {"value": result}).items()}


about = {"by": f"TA-Lib {ta.__ta_version__.decode().split()[0]}", "data": data, "klines": klines}
with open(root / "test/indicators/talib.jsonl", "w") as file:
    for row in [about, *({"call": call, "lines": lines(result)} for call, result in cases.items())]:
        file.write(json.dumps(row, separators=(",", ":")) + "\n")
