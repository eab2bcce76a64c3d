/** Streams fed from code that is not RxJS. */
import { Observable, type Subscriber } from 'rxjs';

export interface Source<T> {
  readonly stream: Observable<T>;
  /** Whether it has a subscriber. */
  readonly isObserved: boolean;
  emit(value: T): void;
}

/** A stream that gives each value to its subscribers of that moment. */
export function source<T>(): Source<T> {
  const listeners = new Set<Subscriber<T>>();
  return {
    stream: new Observable((subscriber) => {
      listeners.add(subscriber);
      return () => listeners.delete(subscriber);
    }),
    get isObserved() {
      return listeners.size > 0;
    },
    emit(value) {
      for (const listener of listeners) listener.next(value);
    },
  };
}

export interface Held<T> {
  /** The values from before the first subscriber, then those that come. */
  readonly stream: Observable<T>;
  /** Unsubscribes from the source, which a strategy that never subscribed would keep open. */
  end(): void;
}

/** Values kept for the first subscriber; beyond that the oldest are dropped: one that comes so late needs the present. */
const maxHeld = 1_000;

/** Subscribes at once and keeps the values until somebody subscribes: nothing is lost while history is being fetched. */
export function held<T>(stream: Observable<T>): Held<T> {
  const early: T[] = [];
  const later = source<T>();
  let isObserved = false;
  const subscription = stream.subscribe((value) => {
    if (isObserved) later.emit(value);
    else if (early.push(value) > maxHeld) early.shift();
  });
  return {
    stream: new Observable((subscriber) => {
      isObserved = true;
      for (const value of early) subscriber.next(value);
      return later.stream.subscribe(subscriber);
    }),
    end: () => subscription.unsubscribe(),
  };
}
