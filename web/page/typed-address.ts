const STATUS_PATH = /\/waitlist\/(\d+)\/status\//;

/**
 * Lets "Check your email" name the address that was typed, which no page of the server knows. This tab alone keeps it,
 * until the person needs no click any more.
 */
export function keepTypedAddress(root: Document): void {
  let kept: Storage;
  try {
    kept = sessionStorage;
  } catch {
    return; // The browser lets pages store nothing.
  }
  const form = root.querySelector<HTMLFormElement>('.waitlist-form');
  form?.addEventListener('submit', () => {
    const { waitlist_id: id, email } = Object.fromEntries(new FormData(form)) as Readonly<Record<string, string>>;
    if (id === undefined) return;
    if (email?.trim()) kept.setItem(keyOf(id), email.trim());
    else kept.removeItem(keyOf(id));
  });
  const [, id] = STATUS_PATH.exec(location.pathname) ?? [];
  if (id === undefined) return;
  const line = root.querySelector<HTMLElement>('.waitlist-address');
  if (!line) return kept.removeItem(keyOf(id));
  const address = kept.getItem(keyOf(id));
  const { text = '' } = line.dataset;
  line.hidden = address === null || text === '';
  line.textContent = text.replaceAll('{email}', () => isolated(address ?? ''));
}

function keyOf(waitlistId: string): string {
  return `waitlist ${waitlistId}`;
}

/** Addresses read from left to right in every language. */
export function isolated(address: string): string {
  return `\u2066${address}\u2069`;
}
