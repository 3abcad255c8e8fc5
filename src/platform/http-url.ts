/** RFC 3986: ASCII without spaces and quotes, every `%` with its two digits; what stands in a link as it is. */
const URI_TEXT = /^https?:\/\/(?:[\w.~!$&'()*+,;=:@/?#[\]-]|%[\dA-F]{2})+$/i;

/** Whether the text is the address of a page, and a link can lead there as it stands. */
export function isHttpUrl(text: string): boolean {
  return URI_TEXT.test(text) && URL.canParse(text);
}

export const HTTP_URL_RULE = 'must be an http or https URL, other characters than ASCII percent-encoded';
