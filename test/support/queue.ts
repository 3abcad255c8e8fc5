import type { INestApplicationContext } from '@nestjs/common';
import { QueueImporter } from '../../src/queue/import/importer.js';
import { QueueAuditor } from '../../src/queue/maintenance/auditor.js';
import { QueuePurger } from '../../src/queue/maintenance/purger.js';
import { QueueSeeder } from '../../src/queue/maintenance/seeder.js';
import { OfferCodes } from '../../src/queue/offers/offer-codes.js';
import { OfferStore } from '../../src/queue/offers/offer.store.js';
import { OfferSweeper } from '../../src/queue/maintenance/offer-sweeper.js';
import { QueueListing } from '../../src/queue/read/queue.listing.js';
import { QueueReader } from '../../src/queue/read/queue.reader.js';
import { QueueWriter } from '../../src/queue/write/queue.writer.js';
import { answerOffer } from '../../src/queue/write/commands/answer-offer.js';
import { decideReferrals } from '../../src/queue/write/commands/decide-referrals.js';
import { erase } from '../../src/queue/write/commands/erase.js';
import { leave } from '../../src/queue/write/commands/leave.js';
import { makeOffers } from '../../src/queue/write/commands/make-offers.js';
import { offboard } from '../../src/queue/write/commands/offboard.js';
import { refuseReferrals } from '../../src/queue/write/commands/refuse-referrals.js';
import { replaceOfferCode } from '../../src/queue/write/commands/replace-offer-code.js';
import { returnWaiters } from '../../src/queue/write/commands/return.js';
import { beginOffer, expireOffers } from '../../src/queue/write/commands/time-offers.js';
import { verify } from '../../src/queue/write/commands/verify.js';
import type { PageRequest } from '../../src/queue/record/waiter.js';

/** The public face of the queue module of a running service. */
export interface Queue {
  readonly writer: QueueWriter;
  readonly reader: QueueReader;
  readonly pages: QueueListing;
  readonly auditor: QueueAuditor;
  readonly purger: QueuePurger;
  readonly seeder: QueueSeeder;
  readonly importer: QueueImporter;
  readonly offers: OfferStore;
  readonly codes: OfferCodes;
  readonly sweeper: OfferSweeper;
}

/** The commands for {@link QueueWriter.submit}. */
export const commands = {
  answerOffer,
  beginOffer,
  decideReferrals,
  erase,
  expireOffers,
  leave,
  makeOffers,
  offboard,
  refuseReferrals,
  replaceOfferCode,
  returnWaiters,
  verify,
};

export function queueOf(app: INestApplicationContext): Queue {
  return {
    writer: app.get(QueueWriter),
    reader: app.get(QueueReader),
    pages: app.get(QueueListing),
    auditor: app.get(QueueAuditor),
    purger: app.get(QueuePurger),
    seeder: app.get(QueueSeeder),
    importer: app.get(QueueImporter),
    offers: app.get(OfferStore),
    codes: app.get(OfferCodes),
    sweeper: app.get(OfferSweeper),
  };
}

/** The first page of the active records in join order. */
export const FIRST_PAGE: PageRequest = {
  status: 'waiting',
  credit: null,
  referredBy: null,
  keys: [],
  search: null,
  name: null,
  order: 'joined',
  start: { offset: 0 },
  limit: 20,
  without: ['answers'],
};
