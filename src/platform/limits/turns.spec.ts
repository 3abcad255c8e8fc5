import { describe, expect, it } from '@jest/globals';
import { Turns, type Contender } from './turns.js';

const waitlist = (id: number, accountId: number): Contender => ({ id, accountId });
function dealt(turns: Turns, waiting: readonly Contender[], count: number): Record<number, number> {
  turns.add(waiting);
  return Object.fromEntries(turns.deal(count));
}

describe('the turns of accounts', () => {
  it('are divided among accounts first, then among the waitlists of each', () => {
    const waiting = [waitlist(1, 1), waitlist(2, 1), waitlist(3, 1), waitlist(4, 2)];
    expect(dealt(new Turns(), waiting, 12)).toEqual({ 1: 2, 2: 2, 3: 2, 4: 6 });
  });

  it('go on where the last ones ended, if more accounts wait than there are turns', () => {
    const turns = new Turns();
    const waiting = Array.from({ length: 5 }, (_, index) => waitlist(index + 1, index + 1));
    const rounds = [2, 2, 2].map((count) => Object.keys(dealt(turns, waiting, count)));
    expect(rounds).toEqual([
      ['1', '2'],
      ['3', '4'],
      ['1', '5'],
    ]);
  });

  it('give the next one to an account that is new among many that wait', () => {
    const turns = new Turns();
    const busy = Array.from({ length: 100 }, (_, index) => waitlist(index + 1, index + 1));
    dealt(turns, busy, 1_000);
    expect(dealt(turns, [...busy, waitlist(101, 101)], 1)).toEqual({ 101: 1 });
  });

  it('count all that wait, also if they were found in several pages', () => {
    const turns = new Turns();
    const pages = [[waitlist(1, 1), waitlist(2, 2), waitlist(3, 3)], [waitlist(600, 600)]];
    const counts = new Map<string, number>();
    for (let claim = 0; claim < 400; claim += 1)
      for (const id of Object.keys(dealt(turns, pages[claim % 2]!, 1))) counts.set(id, (counts.get(id) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ 1: 100, 2: 100, 3: 100, 600: 100 });
  });

  it('alternate between an account whose work comes piece by piece and one with a backlog', () => {
    const turns = new Turns();
    const claims = Array.from({ length: 6 }, () => {
      const [id] = Object.keys(dealt(turns, [waitlist(1, 1), waitlist(2, 2)], 1));
      if (id === '2') turns.remove(2);
      return id;
    });
    expect(claims).toEqual(['1', '2', '1', '2', '1', '2']);
  });

  it('pass over those that are not ready, which keep their places', () => {
    const turns = new Turns();
    turns.add([waitlist(1, 1), waitlist(2, 1), waitlist(3, 2)]);
    const nextOf = (...ready: number[]) => turns.next(({ id }) => ready.includes(id))?.id;
    expect([nextOf(2, 3), nextOf(2, 3), nextOf(), nextOf(1, 2, 3), nextOf(1, 2, 3)]).toEqual([2, 3, undefined, 1, 3]);
  });

  it('are none if nobody waits', () => {
    const turns = new Turns();
    dealt(turns, [waitlist(1, 1)], 1);
    turns.remove(1);
    expect([turns.size, dealt(turns, [], 10)]).toEqual([0, {}]);
  });
});
