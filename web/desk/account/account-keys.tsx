import { Button, Code, MultiSelect, Radio, Skeleton, Stack, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { Delayed } from '../parts/delayed';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { HeadRow } from '../parts/head-row';
import { ProblemAlert } from '../parts/problem-alert';
import { RelativeTime } from '../parts/relative-time';
import { SecretDialog } from '../parts/secret-dialog';
import { Section } from '../parts/section';
import tableClasses from '../parts/table.module.css';
import { accountKeysQuery, membersQuery, waitlistsQuery } from '../queries';
import { memberNames } from '../team/member-name';

type AccountKey = components['schemas']['AccountKey'];

const SCOPES = { read: 'Read only', manage: 'Read and change' } as const;
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' });

export function AccountKeys() {
  const queries = useQueryClient();
  const keys = useQuery(accountKeysQuery());
  const [isCreating, setIsCreating] = useState(false);
  const [revoking, setRevoking] = useState<AccountKey | null>(null);
  return (
    <Section
      title="Account keys"
      description="With a key, your scripts can use the API without a login, for all waitlists of the account or for some. A key keeps working when the member who made it leaves."
      action={
        <Button variant="default" size="compact-sm" onClick={() => setIsCreating(true)}>
          Create key
        </Button>
      }
    >
      {keys.isError && <ProblemAlert error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.isPending && (
        <Delayed>
          <Skeleton height={80} />
        </Delayed>
      )}
      {keys.data?.length === 0 && (
        <Text size="sm" c="dimmed">
          No key yet.
        </Text>
      )}
      {keys.data && keys.data.length > 0 && <KeyTable keys={keys.data} onRevoke={setRevoking} />}
      <CreateDialog isOpen={isCreating} onClose={() => setIsCreating(false)} />
      <ConfirmDialog
        isOpen={revoking !== null}
        title={`Revoke “${revoking?.name ?? ''}”?`}
        act="Revoke key"
        onClose={() => setRevoking(null)}
        onConfirm={async () => {
          if (revoking === null) return;
          await bodyOf(api.DELETE('/api/v1/api_key/{id}', { params: { path: { id: revoking.id } } }));
          await queries.invalidateQueries(accountKeysQuery());
        }}
      >
        Scripts that use this key lose access at once.
      </ConfirmDialog>
    </Section>
  );
}

function KeyTable({ keys, onRevoke }: { keys: readonly AccountKey[]; onRevoke: (key: AccountKey) => void }) {
  const members = memberNames(useQuery(membersQuery()).data);
  const waitlists = useQuery(waitlistsQuery()).data ?? [];
  const namesOf = (ids: readonly number[]) =>
    ids.map((id) => waitlists.find((waitlist) => waitlist.id === id)?.waitlist_name ?? String(id)).join(', ');
  return (
    <Table.ScrollContainer minWidth={860} type="native">
      <Table>
        <HeadRow columns={['Name', 'Key', 'Scope', 'Waitlists', 'Created', 'Last used', 'Expires', '']} />
        <Table.Tbody>
          {keys.map((key) => (
            <Table.Tr key={key.id}>
              <Table.Th scope="row" fw={500}>
                {key.name}
              </Table.Th>
              <Table.Td>
                <Code>{key.prefix}…</Code>
              </Table.Td>
              <Table.Td>{SCOPES[key.scope]}</Table.Td>
              <Table.Td>
                {key.waitlist_ids === null ? 'All' : <bdi>{namesOf(key.waitlist_ids) || 'None: all were deleted'}</bdi>}
              </Table.Td>
              <Table.Td>
                <RelativeTime time={key.created_at} />
                {key.created_by !== null && (
                  <Text size="sm" c="dimmed">
                    by <bdi>{members(key.created_by)}</bdi>
                  </Text>
                )}
              </Table.Td>
              <Table.Td>{key.last_used_at === null ? 'Never' : <RelativeTime time={key.last_used_at} />}</Table.Td>
              <Table.Td>{expiryOf(key)}</Table.Td>
              <Table.Td ta="end" className={tableClasses.act}>
                <Button
                  size="compact-sm"
                  variant="default"
                  aria-label={`Revoke ${key.name}`}
                  onClick={() => onRevoke(key)}
                >
                  Revoke
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  );
}

function expiryOf({ expires_at }: AccountKey): string {
  if (expires_at === null) return 'Never';
  const date = new Date(expires_at);
  return date.getTime() < Date.now() ? 'Expired' : DATE.format(date);
}

function CreateDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const [secret, setSecret] = useState<string | null>(null);
  const close = () => {
    setSecret(null);
    onClose();
  };
  return (
    <SecretDialog
      isOpen={isOpen}
      title={secret === null ? 'Create an account key' : 'Save this account key'}
      label="Account key"
      secret={secret}
      form={<CreateForm onCreated={setSecret} onCancel={close} />}
      onClose={close}
    >
      Send it in the header <Code>api-key</Code>. It is shown only now. If it is lost, revoke it and create another.
    </SecretDialog>
  );
}

/** An alias, because an interface is not assignable to the `Record` that `showFaults` takes. */
type Values = { name: string; scope: AccountKey['scope']; waitlist_ids: string[]; expires_at: string };

function CreateForm({ onCreated, onCancel }: { onCreated: (secret: string) => void; onCancel: () => void }) {
  const queries = useQueryClient();
  const waitlists = useQuery(waitlistsQuery()).data ?? [];
  const form = useForm<Values>({ initialValues: { name: '', scope: 'read', waitlist_ids: [], expires_at: '' } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const create = useMutation({
    mutationFn: ({ expires_at, waitlist_ids: ids, ...values }: Values) => {
      // To the end of the chosen day, as the owner's clock has it.
      const end = expires_at === '' ? null : new Date(`${expires_at}T23:59:59`).toISOString();
      const waitlist_ids = ids.length === 0 ? null : ids.map(Number);
      return bodyOf(api.POST('/api/v1/api_key', { body: { ...values, waitlist_ids, expires_at: end } }));
    },
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: ({ key }) => {
      onCreated(key);
      return queries.invalidateQueries(accountKeysQuery());
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => create.mutate(values))}>
      <Stack>
        <TextInput
          label="Name"
          description="Helps you tell your keys apart."
          required
          data-autofocus
          {...form.getInputProps('name')}
        />
        <Radio.Group label="Scope" {...form.getInputProps('scope')}>
          <Stack gap="xs" mt="xs">
            <Radio value="read" label={SCOPES.read} description="Lists, exports and statistics" />
            <Radio
              value="manage"
              label={SCOPES.manage}
              description="Everything except logins, members and creating keys"
            />
          </Stack>
        </Radio.Group>
        <MultiSelect
          label="Waitlists"
          description="The key sees and changes nothing else. Choose none for all waitlists, including later ones."
          data={waitlists.map(({ id, waitlist_name }) => ({ value: String(id), label: `${waitlist_name} (${id})` }))}
          searchable
          clearable
          clearButtonProps={{ 'aria-label': 'Choose no waitlist' }}
          nothingFoundMessage="No such waitlist"
          // Within the dialog; the list itself scrolls.
          comboboxProps={{ withinPortal: false }}
          withScrollArea={false}
          styles={{ options: { maxHeight: 240, overflowY: 'auto' } }}
          {...form.getInputProps('waitlist_ids')}
        />
        <TextInput
          type="date"
          label="Expires"
          description="Leave empty for a key that never expires."
          {...form.getInputProps('expires_at')}
        />
        {unplaced !== null && <ProblemAlert error={unplaced} />}
        <FormButtons act="Create key" isSending={create.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}
