import { Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from '@tanstack/react-router';
import { api, bodyOf } from '../api';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { CopyField } from '../parts/copy-field';
import type { Waitlist } from '../queries';
import { Section } from './section';

/** The keys of the waitlist. Those of the account are under Account. */
export function KeysTab({ waitlist }: { waitlist: Waitlist }) {
  const [isAsking, setAsking] = useState(false);
  const [newKey, setNewKey] = useState<string | null>(null);
  const replace = async () => {
    const { api_key } = await bodyOf(
      api.POST('/api/v1/waitlist/{waitlist_id}/api_key', { params: { path: { waitlist_id: waitlist.id } } }),
    );
    setNewKey(api_key);
  };
  return (
    <Stack gap="xl">
      <Section title="Public key" hint="Names this waitlist in pages and apps, as its id does. Anybody may see it.">
        <CopyField label="Public key" value={waitlist.public_key} />
        <CopyField label="Id" value={String(waitlist.id)} />
      </Section>
      <Section
        title="Secret API key"
        hint="Opens this waitlist’s people to scripts, together with an access token. The service keeps only a hash of it, so it cannot be shown again."
      >
        <Group>
          <Button variant="default" onClick={() => setAsking(true)}>
            Replace the secret key
          </Button>
        </Group>
        <Text size="sm" c="dimmed">
          New scripts are better served by an account key: see{' '}
          <Anchor inherit underline="always" renderRoot={(props) => <Link to="/account" {...props} />}>
            Account
          </Anchor>
          .
        </Text>
      </Section>
      <ConfirmDialog
        isOpen={isAsking}
        title="Replace the secret key?"
        act="Replace the key"
        onConfirm={replace}
        onClose={() => setAsking(false)}
      >
        <Text size="sm">
          Scripts that use the present key of “{waitlist.waitlist_name}” stop working at once. There is no way back to
          it.
        </Text>
      </ConfirmDialog>
      <Modal
        opened={newKey !== null}
        onClose={() => setNewKey(null)}
        title="The new secret key"
        centered
        closeOnClickOutside={false}
        closeOnEscape={false}
        withCloseButton={false}
      >
        <Stack>
          <Text size="sm">Copy it now: it is shown only this once.</Text>
          {newKey !== null && <CopyField label="Secret API key" value={newKey} />}
          <Group justify="flex-end">
            <Button onClick={() => setNewKey(null)}>Done</Button>
          </Group>
        </Stack>
      </Modal>
    </Stack>
  );
}
