/** Options that every command of `sluice data` has. */

export interface DataIo {
  readonly out: (line: string) => void;
  readonly say: (line: string) => void;
}
export interface DataGiven {
  readonly data: string;
  readonly json: boolean;
}
/** Which of the stored series are meant; all when nothing is given. */
export interface WhichSeries extends DataGiven {
  readonly symbol?: string;
  readonly kind?: string;
  readonly interval?: string;
}
