"""Runs cases (JSON, see compare-libraries.ts) in the libraries themselves and writes their fills."""

import json
import logging
import math
import sys
import warnings

import backtesting
import backtrader
import numpy
import pandas
import vectorbt

warnings.filterwarnings("ignore")
logging.disable(logging.CRITICAL)


def number(want, name):
    return float(want[name]) if name in want else None


def goal(want):
    return float(want["share"] if "share" in want else want["quantity"])


def frame(case):
    klines = pandas.DataFrame(case["klines"], columns=["Open", "High", "Low", "Close", "Volume"])
    klines.index = pandas.date_range("2020-01-01", periods=len(klines), freq=f"{case['intervalMs']}ms")
    return klines.astype(float)


def backtesting_py(case):
    wants = dict(case["wants"])

    class Strategy(backtesting.Strategy):
        def init(self):
            self.want = None
            self.before = 0

        def entered(self):
            return len(self.trades) + len(self.closed_trades)

        def next(self):
            row = len(self.data) - 1
            is_new = row in wants
            if is_new:
                self.want = wants[row]
                self.before = self.entered()
                for order in self.orders:
                    if not order.is_contingent:
                        order.cancel()
            if self.want is None:
                return
            limit = number(self.want, "limit")
            if goal(self.want) == 0:
                if is_new and self.position and limit is None:
                    self.position.close()
                elif is_new:
                    for trade in self.trades:
                        trade.tp = limit
                return
            # What could not be paid is tried again.
            if self.entered() > self.before or any(not order.is_contingent for order in self.orders):
                return
            size = abs(goal(self.want))
            if "share" in self.want:
                size = min(size, 1 - sys.float_info.epsilon)
            (self.buy if goal(self.want) > 0 else self.sell)(
                size=size, limit=limit, sl=number(self.want, "stop"), tp=number(self.want, "takeProfit")
            )

    ran = backtesting.Backtest(frame(case), Strategy, cash=case["cash"], commission=case["fee"]).run()
    trades = [*ran._strategy.closed_trades, *ran._strategy.trades]
    entries = [(one.entry_bar, 0, one.size, one.entry_price) for one in trades]
    exits = [(one.exit_bar, 1, -one.size, one.exit_price) for one in trades if one.exit_bar is not None]
    fills = sorted(entries + exits, key=lambda fill: fill[:2])
    return [(row, size, price) for row, _, size, price in fills], float(ran["Equity Final [$]"])


def backtrader_(case):
    wants = dict(case["wants"])
    fills = []

    class Strategy(backtrader.Strategy):
        def __init__(self):
            self.want = None
            self.entry = None
            self.open_orders = []
            self.size = 0

        def notify_order(self, order):
            if order.status == order.Completed:
                fills.append((len(self) - 1, order.executed.size, order.executed.price))

        def next(self):
            row = len(self) - 1
            is_new = row in wants
            if is_new:
                self.want = wants[row]
                self.entry = None
                self.give_up()
            if self.want is None:
                return
            limit = number(self.want, "limit")
            if goal(self.want) == 0:
                if is_new and self.position and limit is None:
                    self.close()
                elif is_new and self.position:
                    self.leave_at(limit)
                return
            # What could not be paid is tried again, with the size that it had.
            if self.entry is not None and self.entry.status != self.entry.Margin:
                return
            if self.entry is None:
                value = self.broker.getvalue() * abs(goal(self.want))
                commission = self.broker.getcommissioninfo(self.data)
                by_share = commission.getsize(self.data.close[0], value)
                self.size = by_share if "share" in self.want else abs(goal(self.want))
            self.enter(limit)

        def give_up(self):
            # The stop of what is held stays while that is to be left at a price.
            stays = goal(self.want) == 0 and "limit" in self.want and self.position
            for order in self.open_orders:
                if order.alive() and not (stays and order.exectype == order.Stop):
                    self.cancel(order)

        def leave_at(self, limit):
            stop = next((order for order in self.open_orders if order.alive()), None)
            leave = self.sell if self.position.size > 0 else self.buy
            order = leave(size=abs(self.position.size), exectype=backtrader.Order.Limit, price=limit, oco=stop)
            self.open_orders.append(order)

        def enter(self, limit):
            stop, target, trailing = (number(self.want, name) for name in ("stop", "takeProfit", "trailing"))
            has_stop = stop is not None or trailing is not None
            buy_bracket = self.buy_bracket if goal(self.want) > 0 else self.sell_bracket
            self.open_orders = buy_bracket(
                size=self.size,
                price=limit,
                exectype=backtrader.Order.Market if limit is None else backtrader.Order.Limit,
                stopprice=stop,
                stopexec=(backtrader.Order.Stop if trailing is None else backtrader.Order.StopTrail) if has_stop else None,
                stopargs={} if trailing is None else {"trailpercent": trailing},
                limitprice=target,
                limitexec=backtrader.Order.Limit if target is not None else None,
            )
            self.open_orders = [order for order in self.open_orders if order is not None]
            self.entry = self.open_orders[0]

    cerebro = backtrader.Cerebro(stdstats=False)
    cerebro.adddata(backtrader.feeds.PandasData(dataname=frame(case)))
    cerebro.addstrategy(Strategy)
    cerebro.broker.setcash(case["cash"])
    cerebro.broker.setcommission(commission=case["fee"])
    cerebro.run()
    return fills, float(cerebro.broker.getvalue())


def away(close, level, sign):
    """The fraction by which a level lies away from a close: the one that gives it again, or the next that is reached with it."""
    fraction = sign * (level / close - 1)
    while sign * (close * (1 + sign * fraction) - level) > 0:
        fraction = math.nextafter(fraction, 0)
    return fraction


def vectorbt_(case):
    rows = len(case["klines"])
    klines = frame(case)
    close = klines["Close"].to_numpy()
    signals = {name: numpy.zeros(rows, bool) for name in ("entries", "exits", "short_entries", "short_exits")}
    levels = {name: numpy.full(rows, numpy.nan) for name in ("sl_stop", "tp_stop", "size")}
    size_type = numpy.zeros(rows, int)
    trail = numpy.zeros(rows, bool)
    for row, want in case["wants"]:
        size = goal(want)
        if size == 0:
            signals["exits"][row] = signals["short_exits"][row] = True
            continue
        signals["entries" if size > 0 else "short_entries"][row] = True
        levels["size"][row] = abs(size)
        size_type[row] = 2 if "share" in want else 0
        sign = 1 if size > 0 else -1
        if "stop" in want:
            levels["sl_stop"][row] = away(close[row], float(want["stop"]), -sign)
        if "trailing" in want:
            levels["sl_stop"][row] = float(want["trailing"])
            trail[row] = True
        if "takeProfit" in want:
            levels["tp_stop"][row] = away(close[row], float(want["takeProfit"]), sign)
    ran = vectorbt.Portfolio.from_signals(
        klines["Close"],
        open=klines["Open"],
        high=klines["High"],
        low=klines["Low"],
        **signals,
        **levels,
        size_type=size_type,
        sl_trail=trail,
        size_granularity=1,
        allow_partial=False,
        fees=case["fee"],
        init_cash=case["cash"],
        freq="1min",
    )
    records = ran.orders.records
    sides = numpy.where(records["side"] == 0, 1, -1)
    fills = zip(records["idx"], records["size"] * sides, records["price"], strict=True)
    return [(int(row), float(size), float(price)) for row, size, price in fills], float(ran.final_value())


runners = {"backtesting.py": backtesting_py, "backtrader": backtrader_, "vectorbt": vectorbt_}


def answer(case):
    try:
        fills, equity = runners[case["library"]](case)
        return {"fills": [{"row": row, "quantity": size, "price": price} for row, size, price in fills], "equity": equity}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}"}


versions = {"backtesting.py": backtesting.__version__, "backtrader": backtrader.__version__, "vectorbt": vectorbt.__version__}
with open(sys.argv[1]) as given, open(sys.argv[2], "w") as written:
    json.dump({"versions": versions, "runs": [answer(case) for case in json.load(given)]}, written)
