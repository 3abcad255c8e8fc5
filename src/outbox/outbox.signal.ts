import { Injectable } from '@nestjs/common';

/**
 * Wakes the dispatchers of this process after a transaction that left them work. It only saves time: they also look for work
 * every second.
 */
@Injectable()
export class OutboxSignal {
  /** A waitlist has new signups without deliveries. Set by the dispatcher of deliveries. */
  onSignups: (waitlistId: number) => void = () => undefined;
  /** Set by the dispatcher of deliveries. */
  onDeliveries: (webhookIds: readonly number[]) => void = () => undefined;
  /** Set by the dispatcher of mails. */
  onMails: () => void = () => undefined;
}
