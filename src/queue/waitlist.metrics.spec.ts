import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import type { Waiter } from './record/waiter.js';
import { WAITLISTS_NAMED_MAX, WaitlistMetrics } from './waitlist.metrics.js';
import type { LeanWaitlist } from './settings/waitlist.table.js';

it('name a bounded number of waitlists, and count all others together', async () => {
  const registry = new Registry();
  const active = Array.from({ length: WAITLISTS_NAMED_MAX }, (_, index) => [index + 1, 2] as const);
  const metrics = new WaitlistMetrics(registry, async (max) => ({
    byWaitlist: new Map(active.slice(0, max)),
    total: 2 * WAITLISTS_NAMED_MAX + 7,
  }));

  for (let id = 1; id <= WAITLISTS_NAMED_MAX + 5; id += 1) {
    const waitlist = { id } as LeanWaitlist;
    metrics.committed({
      waitlist,
      joined: [{ status: 'waiting', referred: id % 2 === 0 } as Waiter],
      entered: [],
      statusChanges: [],
    });
  }

  const text = await registry.metrics();
  const labels = new Set(Array.from(text.matchAll(/waitlist_id="([^"]+)"/g), ([, label]) => label));
  expect(labels.size).toBe(WAITLISTS_NAMED_MAX + 1);
  expect(text).toMatch(/^waitlist_signups_total\{waitlist_id="1000"\} 1$/m);
  expect(text).toMatch(/^waitlist_signups_total\{waitlist_id="other"\} 5$/m);
  expect(text).toMatch(/^waitlist_referred_signups_total\{waitlist_id="other"\} 2$/m);
  expect(text).toMatch(/^waitlist_active_signups\{waitlist_id="other"\} 7$/m);
});
