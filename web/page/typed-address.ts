const STATUS_PATH = /\/waitlist\/(\d+)\/status\/([\da-f-]+)/i;

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
  const formId = form?.querySelector<HTMLInputElement>('[name=waitlist_id]')?.value;
  if (form && formId !== undefined) {
    // Of an attempt that led to nobody.
    kept.removeItem(keyOf(formId));
    form.addEventListener('submit', () => {
      const { email } = Object.fromEntries(new FormData(form)) as Readonly<Record<string, string>>;
      if (email?.trim()) kept.setItem(keyOf(formId), email.trim());
      else kept.removeItem(keyOf(formId));
    });
  }
  const [, id, uuid] = STATUS_PATH.exec(location.pathname) ?? [];
  if (id === undefined || uuid === undefined) return;
  // The form led here, to the person whose address it was: nobody else's page shows it.
  const own = `${keyOf(id)} ${uuid}`;
  const typed = kept.getItem(keyOf(id));
  if (typed !== null) kept.setItem(own, typed);
  kept.removeItem(keyOf(id));
  const line = root.querySelector<HTMLElement>('.waitlist-address');
  if (!line) return kept.removeItem(own);
  const address = kept.getItem(own);
  const { text = '' } = line.dataset;
  line.hidden = address === null || text === '';
  line.textContent = text.replaceAll('{email}', () => isolated(address ?? ''));
}

/** Holds the address between the form and the private page. */
function keyOf(waitlistId: string): string {
  return `waitlist ${waitlistId}`;
}

/** Addresses read from left to right in every language. */
export function isolated(address: string): string {
  return `\u2066${address}\u2069`;
}
