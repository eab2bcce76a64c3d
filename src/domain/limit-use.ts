/** A limit of orders, positions or losses, and how much of it is used. */
export interface LimitUse {
  /** Its key in the configuration, such as `maxPosition`. */
  readonly name: string;
  /** `amount`: in quote. `count`: a number of things. `each`: it judges single orders, so nothing of it is used up. */
  readonly unit: 'amount' | 'count' | 'each';
  /** Of which strategy, symbol or both; of all where both are left out. */
  readonly strategy?: string;
  readonly symbol?: string;
  /** Decimal text, as `allowed` is; undefined where it judges single orders. */
  readonly used: string | undefined;
  readonly allowed: string;
  /** Used by allowed, for a bar; 0 where nothing is allowed. */
  readonly share: number;
}
