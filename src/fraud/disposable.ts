import { disposableEmailBlocklistSet } from 'disposable-email-domains-js';

/**
 * The domains of throwaway mailboxes, kept by a community: https://github.com/disposable-email-domains. The list omits
 * forwarding services, such as SimpleLogin and Firefox Relay: their users have a lasting mailbox.
 */
const DOMAINS: ReadonlySet<string> = disposableEmailBlocklistSet();

/** Whether the domain of an address, or a parent domain, is on the list of throwaway mailboxes. */
export function isDisposable(emailKey: string): boolean {
  const labels = emailKey.slice(emailKey.lastIndexOf('@') + 1).split('.');
  return labels.some((_, index) => DOMAINS.has(labels.slice(index).join('.')));
}
