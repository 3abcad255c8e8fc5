import { beforeEach, describe, expect, it } from '@jest/globals';
import { known, mapped, select, type Statement, together, Transaction, write } from './session.js';

const answerTo = (sql: string) => select<string, string>(sql, [], ([answer]) => String(answer));

describe('a transaction', () => {
  let sent: string[][];
  let session: Transaction;
  beforeEach(() => {
    sent = [];
    const send = async (statements: readonly Statement[]) => {
      sent.push(statements.map(({ sql }) => sql));
      if (statements.some(({ sql }) => sql === 'wrong')) throw new Error('wrong');
      return statements.map(({ sql }) => [`answer to ${sql}`]);
    };
    session = new Transaction(send, ['BEGIN']);
  });

  it('sends queries together and returns the result of each', async () => {
    const pair = mapped(together([answerTo('b'), known(5), answerTo('c')]), (results) => results.join());

    expect(await session.all([answerTo('a'), pair])).toEqual(['answer to a', 'answer to b,5,answer to c']);
    expect(sent).toEqual([['BEGIN', 'a', 'b', 'c']]);
  });

  it('sends BEGIN with the first queries and COMMIT with the last', async () => {
    await session.one(answerTo('a'));
    expect(await session.commit([answerTo('b')])).toEqual(['answer to b']);

    expect(sent).toEqual([
      ['BEGIN', 'a'],
      ['b', 'COMMIT'],
    ]);
  });

  it('sends nothing for a query without statements', async () => {
    expect(await session.one(known(1))).toBe(1);
    expect(sent).toEqual([]);
  });

  it('splits queries that would be too long', async () => {
    const long = write('x', ['y'.repeat(700_000)]);
    await session.all([long, long, write('z')]);

    expect(sent).toEqual([
      ['BEGIN', 'x'],
      ['x', 'z'],
    ]);
  });

  it('sends nothing after a failure', async () => {
    await expect(session.all([write('a'), write('wrong')])).rejects.toThrow('wrong');
    await expect(session.commit([])).rejects.toThrow('has failed');

    expect(sent).toEqual([['BEGIN', 'a', 'wrong']]);
  });

  it('sends nothing after the end', async () => {
    await session.commit([]);

    await expect(session.one(write('a'))).rejects.toThrow('has ended');
  });
});
