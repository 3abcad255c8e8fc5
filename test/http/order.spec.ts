import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Service, startService } from '../support/service.js';

describe('the line', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.stop());

  it('moves a referrer past exactly three people', async () => {
    const { world } = service;
    const waitlist = await world.waitlist({ spots_to_move_upon_referral: 3 });
    const [, , , , ada] = await world.signups(waitlist, 5);

    await world.signup(waitlist, { referral_link: ada?.referral_link });

    expect(await world.priorityOf(ada!)).toBe(1);
  });
});
