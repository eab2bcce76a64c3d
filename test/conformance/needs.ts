/** What checks need of whoever runs them. */

/** What a check needs beyond an address to ask. */
export type Need =
  | 'feed' // the address of the socket
  | 'key' // a key that may read
  | 'write' // permission to place orders
  | 'quiet' // a quiet symbol and a second user, and permission to place orders
  | 'readOnly' // a key that may only read
  | 'elsewhere' // a key for other addresses
  | 'margin' // permission to place margin orders
  | 'withdrawals' // a key that can read withdrawals
  | 'withdraw' // permission to apply for a withdrawal
  | 'limits'; // permission to break the limits, with the bans that follow

/** What is missing, and the option that gives it. */
export const needText: Readonly<Record<Need, string>> = {
  feed: 'needs the feed (--ws)',
  key: 'needs a key (--key and --secret)',
  write: 'needs permission to place orders (--write)',
  quiet: 'needs a quiet symbol and a second key (--write, --quiet, --keys)',
  readOnly: 'needs a key that may only read (--write, --keys)',
  elsewhere: 'needs a key for other addresses (--keys)',
  margin: 'needs permission to place margin orders (--margin)',
  withdrawals: 'needs a key that can read withdrawals (--withdrawals)',
  withdraw: 'needs permission to apply for a withdrawal (--withdraw)',
  limits: 'needs permission to break the limits (--addresses)',
};
