function meta(selector: string): HTMLMetaElement | null {
  return document.querySelector<HTMLMetaElement>(`meta[${selector}]`);
}

/** The path of `PUBLIC_BASE_URL` without a trailing slash; empty at the root of a host. */
export const basePath = meta('name="base-path"')?.content ?? '';

/** Whether the service sends mail: whether its operator has set `SMTP_URL`. */
export const sendsMail = meta('name="sends-mail"')?.content !== 'false';

/** The nonce of this page's policy, for styles that a library inserts. */
export const styleNonce = meta('property="csp-nonce"')?.nonce ?? '';

/** The address of a waitlist's page that this service makes. */
export function hostedPage({ id, slug }: { readonly id: number; readonly slug: string | null }): string {
  return `${location.origin}${basePath}/waitlist/${slug ?? id}`;
}

/** The address of the page that shows a person their place. Whoever has it sees the page. */
export function privatePage(waitlistId: number, uuid: string): string {
  return `${hostedPage({ id: waitlistId, slug: null })}/status/${uuid}`;
}
