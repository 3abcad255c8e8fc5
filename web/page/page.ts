import { enableSharing } from './share.js';

/* The hosted page works without this. */

enableSharing(document);
// Not every browser focuses this by its `autofocus`.
document.querySelector<HTMLElement>('.waitlist-summary')?.focus();
