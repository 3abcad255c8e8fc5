import type { MailEntity } from '../outbox/mail.entity.js';

/** Mails that strangers can cause, so that nobody is flooded: verifications to one mailbox, over all waitlists. */
const MAILBOX_HOUR_MAX = 5;
const MAILBOX_DAY_MAX = 10;
/** Verifications that one network causes: enough for an office, too few to reach a list of addresses. */
const NETWORK_HOUR_MAX = 300;

/** How many mails were first tried lately. */
export interface Tried {
  readonly hour: number;
  readonly day: number;
}

/** A bound that a mail is beyond. */
export type Bound = 'mailbox_hour' | 'mailbox_day' | 'network_hour';

/** Holds mails to the bounds at their first attempts, one after the other; `tried` has what was tried before, by hash. */
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

  /** The bound that the mail is beyond. Null if there is none; then the mail counts as tried. */
  take({ mailboxHash, networkHash }: Pick<MailEntity, 'mailboxHash' | 'networkHash'>): Bound | null {
    const mailbox = of(this.mailboxes, mailboxHash);
    const network = of(this.networks, networkHash);
    if (mailbox.hour >= MAILBOX_HOUR_MAX) return 'mailbox_hour';
    if (mailbox.day >= MAILBOX_DAY_MAX) return 'mailbox_day';
    if (network.hour >= NETWORK_HOUR_MAX) return 'network_hour';
    add(this.mailboxes, mailboxHash, mailbox);
    add(this.networks, networkHash, network);
    return null;
  }
}

function of(tried: ReadonlyMap<string, Tried>, hash: string | null): Tried {
  return (hash === null ? undefined : tried.get(hash)) ?? { hour: 0, day: 0 };
}

function add(tried: Map<string, Tried>, hash: string | null, { hour, day }: Tried): void {
  if (hash !== null) tried.set(hash, { hour: hour + 1, day: day + 1 });
}
