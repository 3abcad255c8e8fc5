import { initial } from './1763683200000-initial.js';
import { waitlistColumns } from './1795392000000-waitlist-columns.js';
import { webhookFailures } from './1795478400000-webhook-failures.js';
import { mailWaitlists } from './1795478500000-mail-waitlists.js';
import { waiterName } from './1795651200000-waiter-name.js';
import { waitlistSlugs } from './1795737600000-waitlist-slugs.js';
import { waitlistMails } from './1795824000000-waitlist-mails.js';
import { leaveLinks } from './1795910400000-leave-links.js';
import { welcomeMails } from './1795996800000-welcome-mails.js';
import { members } from './1796083200000-members.js';
import { memberLinks } from './1796083300000-member-links.js';
import { singleSignOn } from './1796083400000-single-sign-on.js';
import { twoFactor } from './1796083500000-two-factor.js';
import { loginClient } from './1796083600000-login-client.js';
import { offers } from './1797000000000-offers.js';
import { releaseRuns } from './1797020000000-release-runs.js';
import { departed } from './1797030000000-departed.js';

/** Later migrations go behind these; a released one never changes. */
export const migrations = [
  ...initial,
  ...waitlistColumns,
  ...webhookFailures,
  ...mailWaitlists,
  ...waiterName,
  ...waitlistSlugs,
  ...waitlistMails,
  ...leaveLinks,
  ...welcomeMails,
  ...members,
  ...memberLinks,
  ...singleSignOn,
  ...twoFactor,
  ...loginClient,
  ...offers,
  ...releaseRuns,
  ...departed,
];

/** v0.2.0 has older migrations only. */
export const AFTER_V0_2_0 = 1795392000000;
