import { Alert, Anchor, Text } from '@mantine/core';
import { repository } from '../../../release.json';

const MAIL_GUIDE = `${repository}/blob/main/docs/configuration.md#mail`;

/** For an owner whose operator has set no mail server. */
export function NoMail() {
  return (
    <Alert variant="light" color="orange" title="This service sends no mail">
      <Text size="sm">
        Its operator has to set SMTP_URL and MAIL_FROM first:{' '}
        <Anchor href={MAIL_GUIDE} target="_blank" rel="noopener" inherit c="inherit" underline="always">
          how to set up mail
        </Anchor>
        . Until then, people get no mail, and nobody can be asked to confirm an address.
      </Text>
    </Alert>
  );
}
