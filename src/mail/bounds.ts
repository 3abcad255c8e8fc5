import type { MailEntity } from '../outbox/mail.entity.js';

/**
 * Verification mails to one mailbox, over all waitlists. Strangers cause them, so without a bound anyone could flood a mailbox.
 */
const MAILBOX_HOUR_MAX = 5;
const MAILBOX_DAY_MAX = 10;
/** Verification mails that one network causes: enough for an office, too few to reach a list of addresses. */
const NETWORK_HOUR_MAX = 300;

/** How many mails were first tried lately. */
export interface Tried {
  readonly hour: number;
  readonly day: number;
}

/** A bound that a mail exceeds. */
export type Bound = 'mailbox_hour' | 'mailbox_day' | 'network_hour';

/** Checks the first attempts of mails against the bounds, one after the other. `tried` has the earlier mails by hash. */
export class MailBounds {
  private readonly mailboxes: Map<string, Tried>;
  private readonly networks: Map<string, Tried>;

  constructor(tried: {
    readonly mailboxes: ReadonlyMap<string, Tried>;
    readonly networks: ReadonlyMap<string, Tried>;
  }) {
    this.mailboxes = new Map(tried.mailboxes);
    this.networks = new Map(tried.networks);
  }

  /** Counts a mail and returns null, or returns the bound that it exceeds. */
  take({ mailboxHash, networkHash }: Pick<MailEntity, 'mailboxHash' | 'networkHash'>): Bound | null {
    const mailbox = triedOf(this.mailboxes, mailboxHash);
    const network = triedOf(this.networks, networkHash);
    if (mailbox.hour >= MAILBOX_HOUR_MAX) return 'mailbox_hour';
    if (mailbox.day >= MAILBOX_DAY_MAX) return 'mailbox_day';
    if (network.hour >= NETWORK_HOUR_MAX) return 'network_hour';
    countTried(this.mailboxes, mailboxHash, mailbox);
    countTried(this.networks, networkHash, network);
    return null;
  }
}

function triedOf(tried: ReadonlyMap<string, Tried>, hash: string | null): Tried {
  return (hash === null ? undefined : tried.get(hash)) ?? { hour: 0, day: 0 };
}

function countTried(tried: Map<string, Tried>, hash: string | null, { hour, day }: Tried): void {
  if (hash !== null) tried.set(hash, { hour: hour + 1, day: day + 1 });
}
