import { beforeEach, describe, expect, it } from '@jest/globals';
import type { DataSource } from 'typeorm';
import { PacketExchange, type Statement } from './session.js';

describe('an exchange', () => {
  let packets: string[][];
  let exchange: PacketExchange;
  beforeEach(() => {
    packets = [];
    exchange = new PacketExchange({
      dataSource: {} as DataSource,
      begin: ['BEGIN'],
      end: ['COMMIT'],
      send: async (packet: readonly Statement[]) => {
        packets.push(packet.map(({ sql }) => sql));
        if (packet.some(({ sql }) => sql === 'wrong')) throw new Error('wrong');
        return packet.map(({ sql }) => `answer to ${sql}`);
      },
    });
  });

  it('sends in one packet, in order, what waits for no answer, and gives each its own', async () => {
    const answers = await Promise.all([exchange.query('a'), Promise.resolve().then(() => exchange.query('b'))]);
    await Promise.all([exchange.query('c'), exchange.commit()]);

    expect(answers).toEqual(['answer to a', 'answer to b']);
    expect(packets).toEqual([['BEGIN', 'a', 'b'], ['c', 'COMMIT']]); // prettier-ignore
  });

  it('sends nothing after a failure, also not the commit', async () => {
    const work = [exchange.query('a'), exchange.query('wrong')];

    expect(await Promise.allSettled(work)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }]);
    await expect(exchange.query('b')).rejects.toThrow('wrong');
    await expect(exchange.commit()).rejects.toThrow('wrong');
    expect(packets).toEqual([['BEGIN', 'a', 'wrong']]);
  });

  it('sends nothing that waited when it was given up', async () => {
    const waiting = expect(exchange.query('a')).rejects.toThrow('given up');
    await exchange.abandon();
    await waiting;

    expect(packets).toEqual([]);
  });

  it('takes nothing behind its commit', async () => {
    const committed = exchange.commit();

    await expect(exchange.query('late')).rejects.toThrow('has ended');
    await committed;
    expect(packets).toEqual([['BEGIN', 'COMMIT']]);
  });

  it('splits what is too long for a packet', async () => {
    const long = 'x'.repeat(700_000);
    await Promise.all([exchange.query('a', [long]), exchange.query('b', [long]), exchange.commit()]);

    expect(packets).toEqual([['BEGIN', 'a'], ['b', 'COMMIT']]); // prettier-ignore
  });
});
