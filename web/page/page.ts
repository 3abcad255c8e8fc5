import { showCaptcha } from './captcha.js';
import { followPlace } from './live.js';
import { enableSharing } from './share.js';
import { keepTypedAddress } from './typed-address.js';

/* Without a captcha, the hosted page works without this. */

// First, while the page is as the server sent it.
followPlace(document);
enableSharing(document);
showCaptcha(document);
keepTypedAddress(document);
// Not every browser focuses this by its `autofocus`.
document.querySelector<HTMLElement>('.waitlist-summary')?.focus();
