import { afterEach, describe, expect, it } from '@jest/globals';
import { SERVER_BOUNDS } from '../../src/platform/http/configure-http.js';
import { type Service, startService } from '../support/service.js';
import { until } from '../support/service-process.js';

/** Longer than the time over which the turns of the event loop are averaged. */
const STALL_MS = 2_200;

describe('a process that cannot keep up', () => {
  let service: Service;
  afterEach(() => service.stop());

  it('turns requests away with 503, answers for its health and its metrics, and goes on when it can', async () => {
    service = await startService({ bounds: SERVER_BOUNDS });
    const { api } = service;
    const signup = () => api.post('/api/v1/signup', {});
    expect((await signup()).status).toBe(400);

    const since = performance.now();
    while (performance.now() - since < STALL_MS);
    await until(async () => (await signup()).status === 503);

    const { headers, body } = await signup();
    expect(body).toMatchObject({ error_code: 'OVERLOADED', instance: headers['x-request-id'] });
    expect(headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(headers['access-control-allow-origin']).toBe('*');
    for (const path of ['/livez', '/readyz', '/metrics']) expect((await api.get(path)).status).toBe(200);

    await until(async () => (await signup()).status === 400);
  });
});
