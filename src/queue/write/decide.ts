/**
 * Decides a batch of commands: facts in, decision out, no database. The writer reads the facts under the lock of the
 * waitlist's row and stores the decision in the same transaction.
 */
import type { Outcome } from '../../platform/limits/batcher.js';
import type { Offer } from '../offers/offer.js';
import type { StoredWaiter } from '../record/waiter.js';
import { type Command, KINDS } from './command.js';
import type { Facts } from './facts.js';
import { countMoves, type Decision, stateOf } from './state.js';

/** A decision, and the outcome of each command. */
export interface Decided<Result> extends Decision {
  readonly outcomes: readonly Outcome<Result>[];
}

/** Carries out the commands as if one after the other, by {@link KINDS}. A command that fails changes nothing. */
export function decide<Result>(facts: Facts, commands: readonly Command<Result>[]): Decided<Result> {
  const state = stateOf(facts);
  const outcomes = new Map<Command<Result>, Outcome<Result>>();
  for (const kind of KINDS)
    for (const command of commands)
      if (command.kind === kind)
        outcomes.set(
          command,
          attempt(() => command.run(state)),
        );
  countMoves(state);
  return {
    ...state,
    changedReferrers: [...state.changedReferrerIds].map((id) => state.records.get(id) as StoredWaiter),
    changedOffers: [...state.changedOfferIds].map((id) => state.offersById.get(id) as Offer),
    outcomes: commands.map((command) => outcomes.get(command) as Outcome<Result>),
  };
}

function attempt<Result>(work: () => Result): Outcome<Result> {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}
