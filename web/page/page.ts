import { showCaptcha } from './captcha.js';
import { enableSharing } from './share.js';
import { keepTypedAddress } from './typed-address.js';

/* Without a captcha, the hosted page works without this. */

enableSharing(document);
showCaptcha(document);
keepTypedAddress(document);
// Not every browser focuses this by its `autofocus`.
document.querySelector<HTMLElement>('.waitlist-summary')?.focus();
