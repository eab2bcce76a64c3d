/** For this folder's tests of requests: a stub of the exchange before each test and clients set against it, all closed after it. */
import { afterEach, beforeEach } from 'vitest';
import { type Answerer, client, type StubServer, stubServer } from './test-kit.ts';

type Client = ReturnType<typeof client>;

export interface Stubbed {
  /** Of the test that runs. */
  readonly stub: StubServer;
  readonly open: (given?: Parameters<typeof client>[1]) => Client;
  /** Answers `/symbols` itself and everything else as told. */
  readonly answering: (answer: Answerer) => void;
}

const symbols = {
  symbols: [{ symbol: 'btcusdt', baseAsset: 'BTC', quoteAsset: 'USDT', pricePrecision: 2, quantityPrecision: 5 }],
};
/** An order's id at the exchange: beyond 2^53, as they are. */
export const orderId = '1938321163093077686';

export function stubbed(): Stubbed {
  let stub: StubServer | undefined;
  const made: Client[] = [];
  const running = (): StubServer => {
    if (stub === undefined) throw new Error('the stub runs while a test does');
    return stub;
  };
  beforeEach(async () => {
    stub = await stubServer();
  });
  afterEach(async () => {
    for (const { exchange } of made.splice(0)) exchange.close();
    await stub?.close();
  });
  return {
    get stub() {
      return running();
    },
    open(given) {
      const one = client(running().url, given);
      made.push(one);
      return one;
    },
    answering(answer) {
      running().answer = (request, response) =>
        request.target.startsWith('/sapi/v1/symbols') ? symbols : answer(request, response);
    },
  };
}
