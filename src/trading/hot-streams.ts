/** Streams fed from code that is not RxJS. */
import { Observable, type Subscriber } from 'rxjs';

export interface Source<T> {
  readonly stream: Observable<T>;
  /** Whether anybody listens. */
  readonly heard: boolean;
  emit(value: T): void;
}

/** A stream that gives each value to whoever listens at that moment. */
export function source<T>(): Source<T> {
  const listeners = new Set<Subscriber<T>>();
  return {
    stream: new Observable((subscriber) => {
      listeners.add(subscriber);
      return () => listeners.delete(subscriber);
    }),
    get heard() {
      return listeners.size > 0;
    },
    emit(value) {
      for (const listener of listeners) listener.next(value);
    },
  };
}

export interface Held<T> {
  /** What came before anybody listened, then what comes. */
  readonly stream: Observable<T>;
  /** Stops listening; without it the source would be kept open by a strategy that never looked at it. */
  end(): void;
}

/** Values kept for the first listener; past it the oldest are dropped: who comes that late wants the present. */
const mostHeld = 1_000;

/** Listens at once and keeps what comes until somebody subscribes: nothing is lost while history is being fetched. */
export function held<T>(stream: Observable<T>): Held<T> {
  const early: T[] = [];
  const later = source<T>();
  let heard = false;
  const subscription = stream.subscribe((value) => {
    if (heard) later.emit(value);
    else if (early.push(value) > mostHeld) early.shift();
  });
  return {
    stream: new Observable((subscriber) => {
      heard = true;
      for (const value of early) subscriber.next(value);
      return later.stream.subscribe(subscriber);
    }),
    end: () => subscription.unsubscribe(),
  };
}
