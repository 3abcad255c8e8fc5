import { useSyncExternalStore } from 'react';

interface Store<State> {
  readonly get: () => State;
  readonly set: (next: State) => void;
  /** Returns a function that ends it. */
  readonly subscribe: (listener: () => void) => () => void;
  readonly hasListeners: () => boolean;
}

/** State that outlives the components which show it. */
export function createStore<State>(initial: State): Store<State> {
  let state = initial;
  const listeners = new Set<() => void>();
  return {
    get: () => state,
    set: (next) => {
      state = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    hasListeners: () => listeners.size > 0,
  };
}

/** The state, now and after each change. */
export function useStore<State>({ get, subscribe }: Store<State>): State {
  return useSyncExternalStore(subscribe, get);
}
