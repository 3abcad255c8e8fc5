import { Badge, Button, Group, Modal } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import { Section } from '../parts/section';
import { accountQuery, type Member } from '../queries';
import { ProofForm } from './proof-form';
import { RecoveryCodes } from './recovery-codes';
import { TwoFactorSetup } from './two-factor-setup';

/** The second factor of the member, besides the password. */
export function TwoFactor({ me }: { me: Member }) {
  const queries = useQueryClient();
  const { data: account } = useQuery(accountQuery());
  const [dialog, setDialog] = useState<'set up' | 'new codes' | 'turn off' | null>(null);
  const [codes, setCodes] = useState<readonly string[] | null>(null);
  const close = () => {
    setDialog(null);
    setCodes(null);
  };
  // Logins have ended, and what the service refused without a second factor opens.
  const refresh = () => queries.invalidateQueries();
  const title = codes ? 'Save your recovery codes' : TITLES[dialog ?? 'set up'];
  return (
    <Section
      title="Second factor"
      description="A code from an app on your phone, asked for after the password when you sign in. Somebody who learns your password still cannot get in."
      action={
        <Badge variant="light" color={me.two_factor ? 'teal' : 'gray'} miw="max-content">
          {me.two_factor ? 'On' : 'Off'}
        </Badge>
      }
    >
      <Group gap="xs">
        {me.two_factor ? (
          <>
            <Button variant="default" onClick={() => setDialog('new codes')}>
              Make new recovery codes
            </Button>
            <Button variant="subtle" color="red" onClick={() => setDialog('turn off')}>
              Turn off
            </Button>
          </>
        ) : (
          <Button variant="default" onClick={() => setDialog('set up')}>
            Set up
          </Button>
        )}
      </Group>
      <Modal
        opened={dialog !== null}
        onClose={close}
        title={title}
        centered
        // A slip of the hand must not lose the codes.
        closeOnClickOutside={codes === null}
        closeOnEscape={codes === null}
        withCloseButton={codes === null}
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        {codes ? (
          <RecoveryCodes codes={codes} email={me.email} onSaved={close} />
        ) : dialog === 'set up' ? (
          <TwoFactorSetup
            onConfirmed={(made) => {
              setCodes(made);
              void refresh();
            }}
            onCancel={close}
          />
        ) : dialog === 'new codes' ? (
          <ProofForm
            text="The earlier recovery codes stop working."
            act="Make new codes"
            fields={['otp']}
            onSend={async ({ otp }) => {
              const { recovery_codes } = await bodyOf(
                api.POST('/api/v1/auth/two_factor/recovery_codes', { body: { otp } }),
              );
              setCodes(recovery_codes);
            }}
            onCancel={close}
          />
        ) : (
          <ProofForm
            text={
              account?.require_two_factor
                ? 'Your account requires one: only your profile opens until you set up another.'
                : 'From then on, your password alone signs you in.'
            }
            act="Turn off"
            color="red"
            fields={['current_password', 'otp']}
            onSend={async (body) => {
              await bodyOf(api.POST('/api/v1/auth/two_factor/disable', { body }));
              notifications.show({ message: 'The second factor is off.' });
              close();
              await refresh();
            }}
            onCancel={close}
          />
        )}
      </Modal>
    </Section>
  );
}

const TITLES = {
  'set up': 'Set up a second factor',
  'new codes': 'Make new recovery codes?',
  'turn off': 'Turn off the second factor?',
} as const;
