/**
 * Decides a batch of commands: facts in, decision out, no database. The writer reads the facts under the lock of the
 * waitlist's row and stores the decision in the same transaction.
 */
import type { Outcome } from '../../platform/limits/batcher.js';
import type { StoredWaiter } from '../waiter.js';
import { correct } from './correct.js';
import { erase } from './erase.js';
import type { Command, Decision, Facts, Result } from './facts.js';
import { join } from './join.js';
import { offboard } from './offboard.js';
import { countMoves, type State, stateOf } from './state.js';
import { verify } from './verify.js';

/**
 * Offboardings come first, because they report positions as they were before the batch; joins come last, because they may
 * take a contact that another command gives up.
 */
const ORDER = ['offboard', 'erase', 'correct', 'verify', 'join'] as const satisfies readonly Command['kind'][];

/** Carries out the commands as if one after the other, by {@link ORDER}. A command that fails changes nothing. */
export function decide(facts: Facts, commands: readonly Command[]): Decision {
  const state = stateOf(facts);
  const outcomes = new Map<Command, Outcome<Result>>();
  for (const kind of ORDER)
    for (const command of commands)
      if (command.kind === kind) {
        const outcome = attempt(() => carryOut(state, command));
        outcomes.set(command, outcome);
      }
  countMoves(state);
  return {
    at: state.at,
    outcomes: commands.map((command) => outcomes.get(command) as Outcome<Result>),
    waitlist: state.waitlist,
    written: state.written,
    removals: state.removals,
    erased: state.erased,
    corrections: state.corrections,
    joined: state.joined,
    entered: state.entered,
    changedReferrers: [...state.changedReferrerIds].map((id) => state.records.get(id) as StoredWaiter),
    counters: state.counters,
    days: state.days,
    recentReferrals: state.recentReferrals,
    usedLinks: state.usedLinks,
    changedEmails: state.changedEmails,
    mails: state.mails,
    signups: state.signups,
    events: state.events,
  };
}

function attempt(work: () => Result): Outcome<Result> {
  try {
    return { result: work() };
  } catch (error) {
    return { error };
  }
}

function carryOut(state: State, command: Command): Result {
  if (command.kind === 'join') return join(state, command);
  if (command.kind === 'verify') return verify(state, command);
  const uuids = state.done.get(command.write.id);
  if (command.kind === 'offboard') return uuids ? { uuids, active: state.waitlist.active } : offboard(state, command);
  if (uuids) return { uuids };
  return command.kind === 'erase' ? erase(state, command) : correct(state, command);
}
