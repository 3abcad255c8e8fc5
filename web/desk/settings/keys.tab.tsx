import { Anchor, Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { api, bodyOf } from '../api';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { CopyField } from '../parts/copy-field';
import { SecretDialog } from '../parts/secret-dialog';
import { PlainSection } from '../parts/section';
import type { Waitlist } from '../queries';
import { useMay } from '../roles';

/** The keys of the waitlist. Those of the account are under Account. */
export function KeysTab({ waitlist }: { waitlist: Waitlist }) {
  const [isAsking, setAsking] = useState(false);
  const [newKey, setNewKey] = useState<string | null>(null);
  const isOwner = useMay('owner');
  const replace = async () => {
    const { api_key } = await bodyOf(
      api.POST('/api/v1/waitlist/{waitlist_id}/api_key', { params: { path: { waitlist_id: waitlist.id } } }),
    );
    setNewKey(api_key);
  };
  return (
    <Stack gap="xl">
      <PlainSection
        title="Public key"
        description="Names this waitlist in pages and apps, as its id does. Anybody may see it."
      >
        <CopyField label="Public key" value={waitlist.public_key} />
        <CopyField label="Id" value={String(waitlist.id)} />
      </PlainSection>
      <PlainSection
        title="API key"
        description="Scripts send this key with an access token to work with this waitlist’s people; most waitlists need none. The service keeps only a hash of it, so it can be shown only when it is made: make one when a script needs it."
      >
        {isOwner ? (
          <>
            <Group>
              <Button variant="default" onClick={() => setAsking(true)}>
                Make a new API key
              </Button>
            </Group>
            <Text size="sm" c="dimmed">
              For new scripts, use an account key instead: see{' '}
              <Anchor inherit underline="always" renderRoot={(props) => <Link to="/account" {...props} />}>
                Account
              </Anchor>
              .
            </Text>
          </>
        ) : (
          <Text size="sm">An owner of your account can make a new one.</Text>
        )}
      </PlainSection>
      <ConfirmDialog
        isOpen={isAsking}
        title="Make a new API key?"
        act="Make a new API key"
        onConfirm={replace}
        onClose={() => setAsking(false)}
      >
        <Text size="sm">
          Scripts that use the current API key of “{waitlist.waitlist_name}” stop working at once. If there are none,
          nothing else changes.
        </Text>
      </ConfirmDialog>
      <SecretDialog
        isOpen={newKey !== null}
        title="Save the new API key"
        label="API key"
        secret={newKey}
        onClose={() => setNewKey(null)}
      >
        It is shown only now. If it is lost, make another.
      </SecretDialog>
    </Stack>
  );
}
