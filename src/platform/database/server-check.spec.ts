import { describe, expect, it } from '@jest/globals';
import { reasonToRefuse } from './server-check.js';

const MYSQL = {
  version: '9.7.0',
  comment: 'MySQL Community Server - GPL',
  defaultEngine: 'InnoDB',
  strayTable: null,
  strayEngine: null,
};

describe('a server', () => {
  it.each([
    ['MySQL', MYSQL],
    ['MariaDB', { ...MYSQL, version: '10.11.14-MariaDB-log', comment: 'Debian n/a' }],
  ])('is accepted: %s', (_, facts) => {
    expect(reasonToRefuse(facts)).toBeNull();
  });

  it.each([
    [
      'TiDB',
      { version: '8.0.11-TiDB-v8.5.0', comment: 'TiDB Server (Apache License 2.0) Community Edition' },
      /^TiDB /,
    ],
    ['Vitess', { version: '8.0.40-Vitess' }, /^Vitess /],
    ['a table of Spider', { strayTable: 'waiter', strayEngine: 'SPIDER' }, /^the table waiter is stored by SPIDER\. /],
    ['another engine for new tables', { defaultEngine: 'Aria' }, /default_storage_engine/],
  ])('is refused: %s', (_, facts, reason) => {
    expect(reasonToRefuse({ ...MYSQL, ...facts })).toMatch(reason);
  });
});
