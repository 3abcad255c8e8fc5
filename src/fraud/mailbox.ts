/** A mail provider: its domains, and how it turns an address into a mailbox. */
interface Provider {
  readonly domains: RegExp;
  /** All domains share their mailboxes, under this one; undefined if `ada` is another mailbox at each domain. */
  readonly canonicalDomain?: string;
  readonly fold: (local: string) => string;
}

/** The local part without `+tag`. */
const withoutTag = (local: string) => local.replace(/\+.*/s, '');
/** The domains of Fastmail. */
const FASTMAIL = String.raw`fastmail\.(?:com|fm|cn|co\.uk|com\.au|de|es|fr|im|in|jp|mx|net|nl|org|se|to|tw|uk|us)|sent\.com`;
/** Each user has the subdomain of their name there: `anything@ada.fastmail.com` reaches `ada@fastmail.com`. */
const FASTMAIL_SUBDOMAIN = new RegExp(String.raw`^.+@([^.]+)\.(${FASTMAIL})$`);

/**
 * The folding of each provider, from its own help pages:
 * - Gmail Help, "Dots don't matter in Gmail addresses" and "Send emails from a different address or alias" (plus);
 *   googlemail.com is the same mailbox.
 * - Microsoft Support, "Add or remove an email alias in Outlook.com", and Microsoft Learn, "Plus Addressing in Exchange
 *   Online": plus. Dots count, and outlook.com is not hotmail.com.
 * - Apple Support, "About your @icloud.com, @me.com, and @mac.com email addresses": one mailbox. Plus.
 * - Fastmail Help, "Plus addressing and subdomain addressing".
 * - Proton Support, "Types of email addresses and aliases": plus, and its domains keep a name for one account. Dots,
 *   hyphens and underscores do not count: its clients fold them (removeEmailAlias in ProtonMail/WebClients).
 * - Yandex Help, "Mailbox aliases" and "Alternate email addresses": a mailbox has its name at all domains. Plus.
 * - Yahoo Help, "Create and manage disposable email addresses": `base-keyword`. The base alone is not the same mailbox,
 *   so its hyphen stays. No other name has a hyphen. Yahoo Japan is another company.
 */
const PROVIDERS: readonly Provider[] = [
  {
    domains: /^(?:gmail|googlemail)\.com$/,
    canonicalDomain: 'gmail.com',
    fold: (local) => withoutTag(local).replaceAll('.', ''),
  },
  {
    domains: /^(?:(?:outlook|hotmail|live)\.(?:com?\.)?[a-z]{2,3}|(?:msn|windowslive|passport)\.com)$/,
    fold: withoutTag,
  },
  { domains: /^(?:icloud|me|mac)\.com$/, canonicalDomain: 'icloud.com', fold: withoutTag },
  { domains: new RegExp(`^(?:${FASTMAIL})$`), fold: withoutTag },
  {
    domains: /^(?:proton\.me|protonmail\.(?:com|ch)|pm\.me)$/,
    canonicalDomain: 'proton.me',
    fold: (local) => withoutTag(local).replaceAll(/[._-]/g, ''),
  },
  {
    domains: /^(?:yandex\.(?:ru|com|by|kz|ua)|ya\.ru)$/,
    canonicalDomain: 'yandex.ru',
    fold: withoutTag,
  },
  {
    domains: /^(?:yahoo\.(?!co\.jp$)(?:com?\.)?[a-z]{2,3}|(?:ymail|rocketmail|myyahoo)\.com)$/,
    fold: (local) => withoutTag(local).replace(/-.*/s, '-'),
  },
];

/** The mailbox that an address reaches, as its provider folds addresses; the address itself without a known one. */
export function mailboxKey(emailKey: string): string {
  const [local, domain] = parts(emailKey.replace(FASTMAIL_SUBDOMAIN, '$1@$2'));
  const provider = PROVIDERS.find(({ domains }) => domains.test(domain));
  // Nothing is left of +x@gmail.com. Unfolded, such addresses are at least not all one mailbox.
  const mailbox = provider?.fold(local) || local;
  return `${mailbox}@${provider?.canonicalDomain ?? domain}`;
}

/** The value of `mailbox_key`: the mailbox of an email, or null where it equals the normal form of the email. */
export function foldedMailbox(emailKey: string | null): string | null {
  const mailbox = emailKey && mailboxKey(emailKey);
  return mailbox === emailKey ? null : mailbox;
}

/** The mailbox of a record or a request; null without an email. */
export function mailboxOf(stored: { readonly emailKey: string | null; readonly mailboxKey: string | null }) {
  return stored.mailboxKey ?? stored.emailKey;
}

/** The mailbox as the bounds on mails count it: without a tag at any provider, because many ignore tags. */
export function mailBoundKey(emailKey: string): string {
  const [local, domain] = parts(mailboxKey(emailKey));
  return `${withoutTag(local) || local}@${domain}`;
}

function parts(emailKey: string): [local: string, domain: string] {
  const at = emailKey.lastIndexOf('@');
  return [emailKey.slice(0, at), emailKey.slice(at + 1)];
}
