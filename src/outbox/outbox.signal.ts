import { Injectable } from '@nestjs/common';

/** Tells the dispatchers of this process that a transaction left them work. Without it, they find it at their next look. */
@Injectable()
export class OutboxSignal {
  /** Set by the dispatcher of deliveries. */
  onDeliveries: (webhookIds: readonly number[]) => void = () => undefined;
  /** Set by the dispatcher of mails. */
  onMails: () => void = () => undefined;
}
