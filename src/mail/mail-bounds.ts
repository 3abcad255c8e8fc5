import type { MailEntity } from '../outbox/mail.entity.js';
import { MAILBOX_DAY_MAX, MAILBOX_HOUR_MAX, NETWORK_HOUR_MAX } from '../outbox/mail.store.js';

/** How many mails were first tried lately. */
export interface Tried {
  readonly hour: number;
  readonly day: number;
}

type Hashes = Pick<MailEntity, 'mailboxHash' | 'networkHash'>;

/** A bound that a mail reaches or exceeds. */
export type Bound = 'mailbox_hour' | 'mailbox_day' | 'network_hour';

/** Checks the first attempts of mails against the bounds, one by one. `tried` has the earlier mails by hash. */
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

  /** The bound that allows no such mail now, if any. */
  boundOf({ mailboxHash, networkHash }: Hashes): Bound | null {
    const mailbox = triedOf(this.mailboxes, mailboxHash);
    if (mailbox.hour >= MAILBOX_HOUR_MAX) return 'mailbox_hour';
    if (mailbox.day >= MAILBOX_DAY_MAX) return 'mailbox_day';
    return triedOf(this.networks, networkHash).hour >= NETWORK_HOUR_MAX ? 'network_hour' : null;
  }

  count({ mailboxHash, networkHash }: Hashes): void {
    countTried(this.mailboxes, mailboxHash);
    countTried(this.networks, networkHash);
  }
}

function triedOf(tried: ReadonlyMap<string, Tried>, hash: string | null): Tried {
  return (hash === null ? undefined : tried.get(hash)) ?? { hour: 0, day: 0 };
}

function countTried(tried: Map<string, Tried>, hash: string | null): void {
  const { hour, day } = triedOf(tried, hash);
  if (hash !== null) tried.set(hash, { hour: hour + 1, day: day + 1 });
}
