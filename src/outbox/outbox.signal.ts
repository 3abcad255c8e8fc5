import { Injectable } from '@nestjs/common';

/**
 * Wakes the dispatchers of this process after a transaction that left them work. It only saves time: they also look for work
 * every second.
 */
@Injectable()
export class OutboxSignal {
  /** Set by the dispatcher of deliveries, which makes those of new signups. */
  onSignups: (waitlistId: number) => void = () => undefined;
  /** Set by the dispatcher of deliveries. */
  onDeliveries: (webhookIds: readonly number[]) => void = () => undefined;
  /** Set by the dispatcher of mails. */
  onMails: () => void = () => undefined;
}
