import { beforeEach, describe, expect, it } from '@jest/globals';
import { type Receiver, ReceiverHealth, type Slot } from './receiver-health.js';

const FAST_MS = 100;
const SLOW_MS = 2_500;
const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

describe('the health of receivers', () => {
  let health: ReceiverHealth;
  beforeEach(() => {
    health = new ReceiverHealth();
  });

  const receiver = (id: number, accountId = 1): Receiver => ({ id, accountId });
  /** Receivers of one account, each with its own id. */
  const receivers = (count: number, accountId = 1) =>
    Array.from({ length: count }, (_, index) => receiver(1_000 * accountId + index, accountId));
  /** Begins as many attempts as are allowed. */
  function fill(some: readonly Receiver[]): Slot[] {
    return some.flatMap((one) => {
      const slots: Slot[] = [];
      while (health.freeSlots(one) > 0) slots.push(health.begin(one));
      return slots;
    });
  }
  const prove = (some: readonly Receiver[], nowMs = 0) => {
    for (const { id } of some) health.record(id, null, FAST_MS, nowMs);
  };

  it('gives a new receiver two slots, and eight once it responded fast', () => {
    expect(health.freeSlots(receiver(1))).toBe(2);
    health.record(1, null, SLOW_MS, 0);
    expect(health.freeSlots(receiver(1))).toBe(2);
    health.record(1, null, FAST_MS, MINUTE_MS);
    expect(health.freeSlots(receiver(1))).toBe(8);
  });

  it.each([
    ['failed', '500', FAST_MS],
    ['was slow', null, SLOW_MS],
  ])('gives a receiver two slots for a minute after an attempt that %s', (_, problem, durationMs) => {
    prove([receiver(1)]);
    health.record(1, problem, durationMs, 0);
    health.record(1, null, FAST_MS, MINUTE_MS - 1);
    expect(health.freeSlots(receiver(1))).toBe(2);
    health.record(1, null, FAST_MS, MINUTE_MS);
    expect(health.freeSlots(receiver(1))).toBe(8);
  });

  it('gives an account half of the free slots, however many receivers it has', () => {
    expect(fill(receivers(300, 1))).toHaveLength(64);
    prove(receivers(300, 2));
    expect(fill(receivers(300, 2))).toHaveLength(96);
  });

  it('leaves free slots for another account, proven or not, while several hold all that they may', () => {
    for (let accountId = 2; accountId < 6; accountId += 1) {
      fill(receivers(150, accountId));
      prove(receivers(150, accountId));
      fill(receivers(150, accountId));
    }
    expect(health.freeSlots(receiver(1))).toBe(2);
    prove([receiver(1)]);
    expect(health.freeSlots(receiver(1))).toBe(8);
  });

  it('frees a slot when its attempt ends, also if the receiver was proven meanwhile', () => {
    const slots = fill(receivers(300));
    prove(receivers(300));
    for (const slot of slots) health.end(slot);
    expect(fill(receivers(300))).toHaveLength(128);
  });

  it('tells why a receiver fails until it is proven again', () => {
    health.record(1, 'dns', FAST_MS, 0);
    health.record(1, null, FAST_MS, MINUTE_MS - 1);
    expect(health.problemOf(1)).toBe('dns');
    health.record(1, null, FAST_MS, MINUTE_MS);
    expect([health.problemOf(1), health.problemOf(2)]).toEqual([null, null]);
  });

  it('tells that a receiver works again even if all its responses are slow', () => {
    health.record(1, 'dns', FAST_MS, 0);
    health.record(1, null, SLOW_MS, MINUTE_MS - 1);
    expect(health.problemOf(1)).toBe('dns');
    health.record(1, null, SLOW_MS, MINUTE_MS);
    expect(health.problemOf(1)).toBeNull();
    expect(health.freeSlots(receiver(1))).toBe(2);
  });

  it('forgets a receiver an hour after its last attempt, so deleted webhooks leave nothing', () => {
    prove(receivers(100));
    health.record(1, 'timeout', SLOW_MS, HOUR_MS - 1);
    prove([receiver(2)], HOUR_MS);
    expect([health.size, health.problemOf(1)]).toEqual([2, 'timeout']);
  });
});
