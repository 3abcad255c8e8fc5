/**
 * Decides a batch of commands: facts in, decision out, no database. The writer reads the facts under the lock of the
 * waitlist's row and stores the decision in the same transaction.
 */
import type { Outcome } from '../../platform/limits/batcher.js';
import type { StoredWaiter } from '../waiter.js';
import { correctOne } from './correct.js';
import { erase } from './erase.js';
import type { Command, Decision, Facts, Result } from './facts.js';
import { join } from './join.js';
import { offboard } from './offboard.js';
import { countMoves, type State, stateOf } from './state.js';
import { verify } from './verify.js';

/**
 * Carries out the commands as if one after the other: first all offboardings, because they report positions as they were
 * before the batch; then all erasures, corrections, clicks on links and joins, so that a contact that is given up can be
 * taken. A command that fails changes nothing.
 */
export function decide(facts: Facts, commands: readonly Command[]): Decision {
  const state = stateOf(facts);
  const outcomes = new Map<Command, Outcome<Result>>();
  for (const kind of ORDER)
    for (const command of commands)
      if (command.kind === kind)
        outcomes.set(
          command,
          attempt(() => carryOut(state, command)),
        );
  countMoves(state);
  return {
    ...state,
    outcomes: commands.map((command) => outcomes.get(command) as Outcome<Result>),
    credited: [...state.credited].map((id) => state.records.get(id) as StoredWaiter),
  };
}

const ORDER = ['offboard', 'erase', 'correct', 'verify', 'join'] as const satisfies readonly Command['kind'][];

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
  return command.kind === 'erase' ? erase(state, command) : correctOne(state, command);
}
