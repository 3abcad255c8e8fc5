/** ASCII without spaces and quotes, every `%` with its two digits: a subset of RFC 3986 that every client reads. */
const TEXT = String.raw`(?:[\w.~!$&'()*+,;=:@/?-]|%[\dA-F]{2})*`;
const URI = new RegExp(String.raw`^https?://(?:\[[\dA-F:.]+\])?${TEXT}(?:#${TEXT})?$`, 'i');

export const HTTP_URL_RULE = 'must be an http or https URL, other characters than ASCII percent-encoded';

/** Whether the text is the address of a page, and a link can lead there as it stands. */
export function isHttpUrl(text: string): boolean {
  return URI.test(text) && URL.canParse(text);
}
