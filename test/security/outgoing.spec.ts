import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from '@jest/globals';
import { callAt } from '../support/api.js';
import { startService } from '../support/service.js';

it('never calls a URL that a request contains', async () => {
  const called: string[] = [];
  const server = createServer(({ url = '' }, response) => {
    called.push(url);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const service = await startService();
  const { world, api } = service;

  const waitlist = await world.waitlist({ waitlist_url_location: `${base}/page` });
  const referrer = await world.signup(waitlist, { referral_link: `${base}/link` });
  await world.signup(waitlist, {
    referral_link: `${base}/referred?ref_id=${referrer.referral_token}`,
    metadata: { url: `${base}/metadata` },
    captcha_token: `${base}/token`,
    website: `${base}/website`,
  });
  await api.patch(
    `/api/v1/waitlist/${waitlist.id}`,
    { waitlist_url_location: `${base}/changed` },
    { token: waitlist.owner.token },
  );
  await world.list(waitlist);
  // An earlier call would have arrived before this one.
  await callAt(base, 'GET', '/last');
  await service.stop();
  server.close();
  server.closeAllConnections();

  expect(called).toEqual(['/last']);
});
