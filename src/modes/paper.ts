/** Paper trading: the exchange's market, fills by the fill engine. */
import { noRate, noUnits, plus } from '../domain/money.ts';
import { feesFrom, rulesets } from '../fill/rules.ts';
import { paperOnFeed } from '../venue/paper/paper.ts';
import { type Session, type SessionOptions, startSession } from './session.ts';
