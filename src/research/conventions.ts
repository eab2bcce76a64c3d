/** The meaning of each figure, printed beside it: other programs use the same names for other formulas. */
import type { Metrics } from './metrics.ts';

export type Form = 'share' | 'ratio' | 'money' | 'count' | 'days' | 'years' | 'ms' | 'factor';

export interface Convention {
  readonly name: string;
  readonly form: Form;
  readonly means: string;
}

const c = (name: string, form: Form, means: string): Convention => ({ name, form, means });

export const conventions: readonly {
  readonly title: string;
  readonly of: Partial<Record<keyof Metrics | 'return', Convention>>;
}[] = [
  {
    title: 'Growth',
    of: {
      return: c(
        'Return',
        'share',
        'final equity over the cash at the start, less 1; positions count at the last close; without cash flows, time-weighted',
      ),
      buyAndHoldReturn: c(
        'Buy & hold',
        'share',
        'buying at the first open and holding, net of one entry fee, cash split evenly over symbols',
      ),
      cagr: c('CAGR', 'share', '(last equity / first)^(365 / days) − 1; null below 90 days'),
      bestDay: c('Best day', 'share', 'of the daily returns: those of UTC days that the run covers whole'),
      worstDay: c('Worst day', 'share', 'of the daily returns'),
    },
  },
  {
    title: 'Risk',
    of: {
      maxDrawdown: c('Max drawdown', 'share', 'from a peak, at kline closes; the cash at the start is a peak'),
      longestDrawdownDays: c('Longest drawdown', 'days', 'from a peak to its recovery, or to the end of the run'),
      buyAndHoldDrawdown: c('Buy & hold drawdown', 'share', 'at UTC day closes'),
      volatility: c('Volatility', 'share', 'standard deviation of daily returns (n − 1) × √365'),
      ulcerIndex: c('Ulcer index', 'share', 'root of the mean squared drawdown at UTC day closes (n)'),
      valueAtRisk: c('VaR 95', 'share', '5th percentile of daily returns, linear interpolation'),
      conditionalValueAtRisk: c('CVaR 95', 'share', 'mean of the daily returns at or below VaR'),
      tailRatio: c('Tail ratio', 'ratio', '|95th| over |5th| percentile of daily returns'),
      skewness: c('Skewness', 'ratio', 'of daily returns, with n'),
      kurtosis: c('Kurtosis', 'ratio', 'of daily returns, raw: a normal distribution has 3'),
    },
  },
  {
    title: 'Risk-adjusted return',
    of: {
      sharpe: c(
        'Sharpe ratio',
        'ratio',
        'mean daily return less the risk-free rate over standard deviation (n − 1), × √365',
      ),
      sharpeLow: c(
        'Sharpe, low end',
        'ratio',
        '2.5th percentile of 1,000 stationary bootstraps, automatic block length',
      ),
      sharpeHigh: c('Sharpe, high end', 'ratio', '97.5th percentile of the same'),
      psr: c('PSR', 'share', 'probability that the true Sharpe ratio is above 0, given length, skewness and kurtosis'),
      trackRecordYears: c('Needed track record', 'years', 'until PSR reaches 95 %, if the ratio is the true one'),
      sortino: c(
        'Sortino ratio',
        'ratio',
        'mean daily return less the rate over root of Σ min(r − rate, 0)² / n, × √365',
      ),
      calmar: c('Calmar ratio', 'ratio', 'CAGR over the max drawdown'),
      martin: c('Martin ratio', 'ratio', 'CAGR over the Ulcer index'),
      omega: c('Omega', 'ratio', 'Σ of daily returns above the rate over Σ below it'),
      alpha: c('Alpha', 'share', 'intercept of daily returns on those of buy & hold, least squares, × 365'),
      beta: c('Beta', 'ratio', 'slope of the same'),
    },
  },
  {
    title: 'Round trips',
    of: {
      roundTrips: c(
        'Round trips',
        'count',
        'what one order opened and another closed, first in, first out; net of fees; a position closed in parts counts as several',
      ),
      winRate: c('Win rate', 'share', 'round trips with a profit over all'),
      profitFactor: c('Profit factor', 'ratio', 'sum of profits over sum of losses'),
      expectancy: c('Expectancy', 'money', 'mean profit of a round trip'),
      expectancyInR: c('Expectancy in R', 'ratio', 'over the average loss'),
      averageWin: c('Average win', 'money', 'of round trips with a profit'),
      averageLoss: c('Average loss', 'money', 'of round trips with a loss'),
      bestRoundTrip: c('Best', 'money', 'round trip'),
      worstRoundTrip: c('Worst', 'money', 'round trip'),
      maxConsecutiveWins: c('Wins in a row', 'count', 'at most, in the order of closing'),
      maxConsecutiveLosses: c('Losses in a row', 'count', 'at most, in the order of closing'),
      averageDurationMs: c('Duration', 'ms', 'mean time from entry to exit'),
      averageAdverseExcursion: c(
        'MAE',
        'share',
        'maximum adverse excursion, mean: price moves against round trips, of the entry price, by whole klines',
      ),
      averageFavourableExcursion: c(
        'MFE',
        'share',
        'maximum favourable excursion, mean: the same in favour of round trips',
      ),
      sqn: c('SQN', 'ratio', '√n × mean / standard deviation of round trips; null below 30'),
      kelly: c('Kelly', 'share', 'W − (1 − W) / (average win / average loss)'),
    },
  },
  {
    title: 'Activity and cost',
    of: {
      timeInMarket: c('Time in the market', 'share', 'share of the time with an open position'),
      exposure: c('Exposure', 'share', 'value of the positions over equity, time-weighted'),
      turnoverYearly: c('Turnover a year', 'factor', 'half of all fills over mean equity'),
      feeShare: c('Fee share', 'share', 'fees over the gross profit'),
      breakEvenFees: c(
        'Break-even fees',
        'factor',
        'the factor on all fees at which the same fills would earn nothing',
      ),
    },
  },
];
