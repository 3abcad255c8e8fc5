import { Injectable } from '@nestjs/common';
import type { Contender } from '../platform/limits/turns.js';

/** Wakes this process's dispatchers after a transaction that left them work. They also look for it every second. */
@Injectable()
export class OutboxSignal {
  /** A waitlist has new signups without deliveries. Set by the maker of deliveries (queue). */
  wakeForSignups: (waitlist: Contender) => void = () => undefined;
  /** Webhooks have new deliveries. Set by the dispatcher of webhooks. */
  wakeForDeliveries: (webhookIds: readonly number[]) => void = () => undefined;
  /** There are new mails. Set by the dispatcher of mails. */
  wakeForMails: () => void = () => undefined;
}
