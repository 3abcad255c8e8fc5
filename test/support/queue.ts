import type { INestApplicationContext } from '@nestjs/common';
import { QueueImporter } from '../../src/queue/import/importer.js';
import { QueueAuditor } from '../../src/queue/maintenance/auditor.js';
import { QueuePurger } from '../../src/queue/maintenance/purger.js';
import { QueueSeeder } from '../../src/queue/maintenance/seeder.js';
import { QueuePages } from '../../src/queue/queue.pages.js';
import { QueueReader } from '../../src/queue/queue.reader.js';
import { QueueWriter } from '../../src/queue/queue.writer.js';
import type { PageRequest } from '../../src/queue/waiter.js';

/** The public face of the queue module of a running service. */
export interface Queue {
  readonly writer: QueueWriter;
  readonly reader: QueueReader;
  readonly pages: QueuePages;
  readonly auditor: QueueAuditor;
  readonly purger: QueuePurger;
  readonly seeder: QueueSeeder;
  readonly importer: QueueImporter;
}

export function queueOf(app: INestApplicationContext): Queue {
  return {
    writer: app.get(QueueWriter),
    reader: app.get(QueueReader),
    pages: app.get(QueuePages),
    auditor: app.get(QueueAuditor),
    purger: app.get(QueuePurger),
    seeder: app.get(QueueSeeder),
    importer: app.get(QueueImporter),
  };
}

/** The first page of the active records in join order. */
export const FIRST_PAGE: PageRequest = {
  status: 'waiting',
  credit: null,
  referredBy: null,
  keys: [],
  search: null,
  order: 'joined',
  start: { offset: 0 },
  limit: 20,
  without: ['answers'],
};
