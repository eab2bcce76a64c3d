/** Streams fed from code that is not RxJS. */
import { Observable, type Subscriber } from 'rxjs';

export interface Source<T> {
  readonly stream: Observable<T>;
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
    emit(value) {
      for (const listener of listeners) listener.next(value);
    },
  };
}

/** Listens at once and keeps what comes until somebody subscribes: nothing is lost while history is being fetched. */
export function held<T>(stream: Observable<T>): Observable<T> {
  const waiting: T[] = [];
  let out: Subscriber<T> | undefined;
  const subscription = stream.subscribe((value) => {
    if (out === undefined) waiting.push(value);
    else out.next(value);
  });
  return new Observable((subscriber) => {
    for (const value of waiting.splice(0)) subscriber.next(value);
    out = subscriber;
    return () => subscription.unsubscribe();
  });
}
