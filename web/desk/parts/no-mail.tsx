import { Alert, Anchor, Text } from '@mantine/core';
import { repository } from '../../../release.json';
import type { Waitlist } from '../queries';

const MAIL_GUIDE = `${repository}/blob/main/docs/configuration.md#mail`;

/** An operator can take the mail server away from waitlists that have verification on. */
const WITHOUT_MAIL: Readonly<Record<string, string>> = {
  off: 'people get no mail, and nobody can be asked to confirm an address.',
  optional: 'nobody can confirm an address, so no referral of a new person counts.',
  required:
    'nobody can confirm an address, so people who join get no place in the queue. To let new people join, turn verification off under Trust.',
};

/** For an owner whose operator has set no mail server. */
export function NoMail({ waitlist: { verification, mail_on_signup, mail_on_offboarding } }: { waitlist: Waitlist }) {
  const isWaiting = verification !== 'off' || mail_on_signup || mail_on_offboarding;
  return (
    <Alert variant="light" color="orange" title="This service sends no mail">
      <Text size="sm">
        Its operator has to set SMTP_URL and MAIL_FROM first:{' '}
        <Anchor href={MAIL_GUIDE} target="_blank" rel="noopener" inherit c="inherit" underline="always">
          how to set up mail
        </Anchor>
        . Until then, {WITHOUT_MAIL[verification]}
        {isWaiting && ' Mails that are turned on wait for up to 30 days, then they are dropped.'}
      </Text>
    </Alert>
  );
}
