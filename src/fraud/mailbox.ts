/** How a provider turns addresses into mailboxes, by the domains that it gives its users. */
interface Provider {
  readonly domains: RegExp;
  /** The domain that all of them are one with; undefined if each has mailboxes of its own. */
  readonly domain?: string;
  readonly fold: (local: string) => string;
}

const withoutTag = (local: string) => local.replace(/\+.*/s, '');
/** Each user has the subdomain of their name there: `anything@ada.fastmail.com` reaches `ada@fastmail.com`. */
const FASTMAIL = String.raw`fastmail\.(?:com|fm|cn|co\.uk|com\.au|de|es|fr|im|in|jp|mx|net|nl|org|se|to|tw|uk|us)|sent\.com`;
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
 * - Yahoo Help, "Create and manage disposable email addresses": `base-keyword`. The base alone is not the same mailbox,
 *   so its hyphen stays. No other name has a hyphen. Yahoo Japan is another company.
 */
const PROVIDERS: readonly Provider[] = [
  {
    domains: /^(?:gmail|googlemail)\.com$/,
    domain: 'gmail.com',
    fold: (local) => withoutTag(local).replaceAll('.', ''),
  },
  {
    domains: /^(?:(?:outlook|hotmail|live)\.(?:com?\.)?[a-z]{2,3}|(?:msn|windowslive|passport)\.com)$/,
    fold: withoutTag,
  },
  { domains: /^(?:icloud|me|mac)\.com$/, domain: 'icloud.com', fold: withoutTag },
  { domains: new RegExp(`^(?:${FASTMAIL})$`), fold: withoutTag },
  {
    domains: /^(?:proton\.me|protonmail\.(?:com|ch)|pm\.me)$/,
    domain: 'proton.me',
    fold: (local) => withoutTag(local).replaceAll(/[._-]/g, ''),
  },
  {
    domains: /^(?:yahoo\.(?!co\.jp$)(?:com?\.)?[a-z]{2,3}|(?:ymail|rocketmail|myyahoo)\.com)$/,
    fold: (local) => withoutTag(local).replace(/-.*/s, '-'),
  },
];

/** The mailbox that an address reaches, as its provider folds addresses; the address itself where the provider is unknown. */
export function mailboxKey(emailKey: string): string {
  const [local, domain] = parts(emailKey.replace(FASTMAIL_SUBDOMAIN, '$1@$2'));
  const provider = PROVIDERS.find(({ domains }) => domains.test(domain));
  // An address such as +@gmail.com reaches nobody.
  const mailbox = provider?.fold(local) || local;
  return `${mailbox}@${provider?.domain ?? domain}`;
}

/** The mailbox for the bound on mails: a tag does not count at any provider, because many fold it. */
export function mailingKey(emailKey: string): string {
  const [local, domain] = parts(mailboxKey(emailKey));
  return `${withoutTag(local) || local}@${domain}`;
}

function parts(emailKey: string): [local: string, domain: string] {
  const at = emailKey.lastIndexOf('@');
  return [emailKey.slice(0, at), emailKey.slice(at + 1)];
}
