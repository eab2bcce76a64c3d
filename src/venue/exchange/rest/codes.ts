/** What the exchange's error codes mean in plain words, and what to do (specification §7 shows one; the rest were seen on live deployments). */

export interface CodeMeaning {
  /** Completes the sentence "the exchange says that …". */
  readonly means: string;
  readonly advice: string;
}

const askFirst = 'query the order before you try again: the outcome is unknown';
const orderMore = 'order more: sluice market symbols shows the minimum';
const round = 'round to the precision of the symbol: sluice market symbols shows it';
const noSuchOrder = ['there is no such order', 'check symbol and id: sluice order open'] as const;
const mayNot = ['the key may not do this', 'check its permissions in the user centre'] as const;
const noFunds = ['the balance is too small', 'sluice account shows free balances; open orders lock the rest'] as const;
const noSymbol = ['the exchange does not know the symbol', 'sluice market symbols lists the known ones'] as const;
const notListed = ['the address of this machine is not on the list of the key', 'add it in the user centre'] as const;

const codes: Readonly<Record<string, readonly [means: string, advice: string]>> = {
  '-1000': ['the exchange had an internal error', askFirst],
  '-1001': ['the exchange lost an internal connection', askFirst],
  '-1002': [
    'the key is missing or not authorised, or there is no such operation',
    'check SLUICE_API_KEY, and the path of a raw call',
  ],
  '-1003': ['too many requests', 'wait a minute; other programs behind the same address count as well'],
  '-1004': ['no such user', 'check SLUICE_API_KEY'],
  '-1006': ['an internal answer of the exchange was unreadable', askFirst],
  '-1007': ['the exchange did not answer in time internally', askFirst],
  '-1014': ['this combination of order fields is not supported', 'use LIMIT with a price or MARKET without'],
  '-1015': ['too many orders at once', 'wait, and send fewer'],
  '-1016': ['the exchange is shutting down for maintenance', 'wait until it is back, then query the open orders'],
  '-1017': ['the content type is not accepted', 'report it: Sluice sends application/json'],
  '-1020': ['the operation is not supported', 'use another one; this deployment does not have it'],
  '-1021': [
    'the time of the request is outside its window',
    'check the local clock, and --speed for a built-in exchange',
  ],
  '-1022': ['the signature is wrong', 'check SLUICE_API_SECRET and --strip-prefix'],
  '-1023': ['the time is missing from the headers', 'report it: Sluice sends X-CH-TS with every signed request'],
  '-1024': ['the signature is missing from the headers', 'report it: Sluice sends X-CH-SIGN with every signed request'],
  '-1100': ['a parameter holds a forbidden character', 'check the parameters'],
  '-1101': ['too many parameters', 'leave out unneeded parameters'],
  '-1102': [
    'a parameter is missing or malformed',
    'check the parameters; some deployments need more than the specification',
  ],
  '-1103': ['an unknown parameter was sent', 'leave it out'],
  '-1104': ['not all parameters were read', 'leave out unneeded parameters'],
  '-1105': ['a parameter is empty', 'give it a value or leave it out'],
  '-1106': ['a superfluous parameter was sent', 'leave it out'],
  '-1111': ['too many decimals', round],
  '-1112': ['there are no orders on the other side', 'try later, or place a LIMIT order'],
  '-1116': ['the type of the order is not known', 'use LIMIT or MARKET'],
  '-1117': ['the side of the order is not known', 'use BUY or SELL'],
  '-1118': ['the client order id is empty', 'give one or leave it out'],
  '-1121': noSymbol,
  '-1136': ['the volume is below the minimum', orderMore],
  '-1138': ['the price is too far from the market', 'move the price closer to it'],
  '-1139': ['the symbol takes no MARKET orders', 'use LIMIT'],
  '-1145': ['the order can no longer be cancelled', 'query it: sluice order query'],
  '-1147': ['too many decimals in price or volume', round],
  '-1196': noSuchOrder,
  '-2013': ['there is no such order', 'check symbol and id; a new order may not be visible yet'],
  '-2014': ['the key is malformed', 'check SLUICE_API_KEY for missing or extra characters'],
  '-2015': [
    'the key, the address of this machine or a permission is not accepted',
    'check addresses and permissions of the key in the user centre',
  ],
  '-2016': ['trading is frozen for this account', 'contact the exchange'],
  '-2017': noFunds,
  '-2018': ['a withdrawal with this id exists already', 'do not send it again: sluice-withdraw list shows it'],
  '-2021': ['the account is not verified', 'complete the verification in the user centre'],
  '-2022': ['the volume of the LIMIT order is below the minimum', orderMore],
  '-2023': ['the volume of the MARKET sell is below the minimum', 'sell more: sluice market symbols shows the minimum'],
  '-2024': ['the price is below the minimum', 'raise the price'],
  '-2025': [
    'the amount of the MARKET buy is below the minimum',
    'buy for more: sluice market symbols shows the minimum',
  ],
  '-2026': ['the order is too large', 'order less'],
  '-2027': ['the order is too large', 'order less'],
  '-2029': ['the order is worth too little', orderMore],
  '-2100': ['a parameter is wrong', 'check the parameters'],
  '-2200': notListed,
  '1': ['the exchange failed without a reason; often the order id is malformed', 'check the id, then try again'],
  '35': ['ordering is forbidden for this account or symbol', 'contact the exchange'],
  '40': notListed,
  '10004': mayNot,
  '10005': mayNot,
  '10006': mayNot,
  '10062': ['too many decimals', round],
  '21020': noSymbol,
  '21022': noSuchOrder,
  '110046': ['the volume is below the minimum', orderMore],
  '110047': ['the price or the amount is below the minimum', orderMore],
  '110049': noFunds,
};

/** Every code that has words. */
export const knownCodes: readonly string[] = Object.keys(codes);

/** Undefined for an undescribed code: then only its message remains, in any language. */
export function codeMeaning(code: string): CodeMeaning | undefined {
  const found = Object.hasOwn(codes, code) ? codes[code] : undefined;
  return found === undefined ? undefined : { means: found[0], advice: found[1] };
}
