import {
  Alert,
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  Modal,
  Skeleton,
  Stack,
  Switch,
  Text,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { Delayed } from '../parts/delayed';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';
import { Section } from '../parts/section';
import { type Waitlist, type Webhook, webhooksQuery } from '../queries';
import { Deliveries } from './deliveries';

type EventName = components['schemas']['WebhookEvent'];

const EVENTS: Readonly<Record<EventName, string>> = {
  new_signup: 'Somebody joined the queue',
  verified_signup: 'Somebody confirmed their address',
  referral_credited: 'A referral counts',
  offboarded_signup: 'Somebody was let in',
  erased_signup: 'Somebody was erased',
};

type Dialog = 'edit' | 'secret' | 'delete' | null;

/** Addresses that hear of what happens to the people of a waitlist. */
export function WebhooksTab({ waitlist }: { waitlist: Waitlist }) {
  const webhooks = useQuery(webhooksQuery(waitlist.id));
  const [{ isOpen, secret }, setAdding] = useState<{ isOpen: boolean; secret: string | null }>({ isOpen: false, secret: null }); // prettier-ignore
  const showSecret = (shown: string) => setAdding({ isOpen: true, secret: shown });
  const close = () => setAdding((shown) => ({ ...shown, isOpen: false }));
  return (
    <Stack gap="xl">
      <Group justify="space-between" align="flex-start">
        <Text size="sm" c="dimmed" maw="70ch">
          Each event is posted to these addresses, signed as Standard Webhooks specifies. If a receiver does not answer,
          the service tries again for about a day.
        </Text>
        <Button onClick={() => setAdding({ isOpen: true, secret: null })}>Add a webhook</Button>
      </Group>
      {webhooks.isPending && (
        <Delayed>
          <Skeleton height={120} />
        </Delayed>
      )}
      {webhooks.isError && <ProblemAlert error={webhooks.error} onRetry={() => void webhooks.refetch()} />}
      {webhooks.data?.length === 0 && (
        <Text c="dimmed" ta="center" py="xl">
          No webhook yet.
        </Text>
      )}
      {webhooks.data?.map((webhook) => (
        <OneWebhook key={webhook.id} waitlistId={waitlist.id} webhook={webhook} onSecret={showSecret} />
      ))}
      <SecretDialog
        isOpen={isOpen}
        title={secret === null ? 'Add a webhook' : 'Save the secret of the webhook'}
        label="Secret"
        secret={secret}
        form={<AddForm waitlistId={waitlist.id} onAdded={showSecret} onCancel={close} />}
        onClose={close}
      >
        Your receiver checks the signatures with it. It is shown only now. If it is lost, replace it.
      </SecretDialog>
    </Stack>
  );
}

function OneWebhook({
  waitlistId,
  webhook,
  onSecret,
}: {
  waitlistId: number;
  webhook: Webhook;
  onSecret: (secret: string) => void;
}) {
  const queries = useQueryClient();
  const [dialog, setDialog] = useState<Dialog>(null);
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const params = { path: { waitlist_id: waitlistId, webhook_id: webhook.id } };
  /** Reads the deliveries anew too: their key begins with this one. */
  const refresh = () => queries.invalidateQueries(webhooksQuery(waitlistId));
  const turn = useMutation({
    mutationFn: (isActive: boolean) =>
      bodyOf(api.PATCH('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}', { params, body: { is_active: isActive } })), // prettier-ignore
    onSettled: refresh,
  });
  const test = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}/test', {
          params: { ...params, header: { 'Idempotency-Key': nanoid() } },
        }),
      ),
    onSuccess: async () => {
      notifications.show({ message: 'A test event is on its way' });
      setShowsDeliveries(true);
      await refresh();
    },
  });
  const failure = turn.error ?? test.error;
  return (
    <Section
      title={webhook.url}
      action={
        <Switch
          label={webhook.is_active ? 'On' : 'Off'}
          aria-label={`Send events to ${webhook.url}`}
          checked={webhook.is_active}
          disabled={turn.isPending}
          onChange={({ currentTarget }) => turn.mutate(currentTarget.checked)}
        />
      }
    >
      <Stack>
        <Group gap={6}>
          {(webhook.events.length > 0 ? webhook.events : ['all events']).map((name) => (
            <Badge key={name} variant="light">
              {name}
            </Badge>
          ))}
        </Group>
        {!webhook.secret_available && (
          <Alert color="orange" title="The secret cannot be read">
            It was stored under a JWT_SECRET that this service no longer has. Events wait until you replace the secret
            of the webhook.
          </Alert>
        )}
        {failure && <ProblemAlert error={failure} />}
        <Group gap="xs">
          <Button size="compact-sm" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
            Send a test
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setDialog('edit')}>
            Edit
          </Button>
          <Button size="compact-sm" variant="default" onClick={() => setDialog('secret')}>
            Replace the secret
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={showsDeliveries}
            onClick={() => setShowsDeliveries((shown) => !shown)}
          >
            {showsDeliveries ? 'Hide deliveries' : 'Show deliveries'}
          </Button>
          <Button size="compact-sm" variant="subtle" color="red" onClick={() => setDialog('delete')}>
            Delete
          </Button>
        </Group>
        {showsDeliveries && <Deliveries waitlistId={waitlistId} webhookId={webhook.id} />}
      </Stack>
      <Modal
        opened={dialog === 'edit'}
        onClose={() => setDialog(null)}
        title="Edit the webhook"
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <EditForm waitlistId={waitlistId} webhook={webhook} onDone={() => setDialog(null)} />
      </Modal>
      <ConfirmDialog
        isOpen={dialog === 'secret'}
        title="Replace the secret?"
        act="Replace the secret"
        onConfirm={async (key) => {
          const { secret } = await bodyOf(
            api.POST('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}/secret', {
              params: { ...params, header: { 'Idempotency-Key': key } },
            }),
          );
          await refresh();
          onSecret(secret);
        }}
        onClose={() => setDialog(null)}
      >
        <Text size="sm">For 24 hours, events are signed with both secrets; after that, with the new one alone.</Text>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={dialog === 'delete'}
        title="Delete this webhook?"
        act="Delete the webhook"
        onConfirm={async (key) => {
          await bodyOf(
            api.DELETE('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}', {
              params: { ...params, header: { 'Idempotency-Key': key } },
            }),
          );
          await refresh();
        }}
        onClose={() => setDialog(null)}
      >
        <Text size="sm">
          <Code>{webhook.url}</Code> gets no more events. Those that wait are deleted.
        </Text>
      </ConfirmDialog>
    </Section>
  );
}

/** A type, because `showFaults` takes any record. */
type Values = { url: string; events: EventName[] };

function useWebhookForm(initialValues: Values, send: (values: Values) => Promise<unknown>) {
  const form = useForm<Values>({ initialValues });
  const [refusal, setRefusal] = useState<unknown>(null);
  const save = useMutation({
    mutationFn: send,
    onMutate: () => setRefusal(null),
    onError: (error) => setRefusal(showFaults(error, form)),
  });
  return { form, refusal, save };
}

type WebhookForm = ReturnType<typeof useWebhookForm>;

function Fields({
  act,
  hook: { form, refusal, save },
  onCancel,
}: {
  act: string;
  hook: WebhookForm;
  onCancel: () => void;
}) {
  // prettier-ignore
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <TextInput
          label="Address"
          description="Events are posted to it. It begins with https://."
          type="url"
          required
          data-autofocus
          {...form.getInputProps('url')}
        />
        <Checkbox.Group label="Events" description="None selected: all events." {...form.getInputProps('events')}>
          <Stack gap="xs" mt="xs">
            {Object.entries(EVENTS).map(([name, description]) => (
              <Checkbox key={name} value={name} label={name} description={description} />
            ))}
          </Stack>
        </Checkbox.Group>
        {refusal !== null && <ProblemAlert error={refusal} />}
        <FormButtons act={act} isSending={save.isPending} onCancel={onCancel} />
      </Stack>
    </form>
  );
}

function AddForm({
  waitlistId,
  onAdded,
  onCancel,
}: {
  waitlistId: number;
  onAdded: (secret: string) => void;
  onCancel: () => void;
}) {
  const queries = useQueryClient();
  const hook = useWebhookForm({ url: '', events: [] }, async (values) => {
    const { secret } = await bodyOf(
      api.POST('/api/v1/waitlist/{waitlist_id}/webhook', {
        params: { path: { waitlist_id: waitlistId }, header: { 'Idempotency-Key': nanoid() } },
        body: values,
      }),
    );
    onAdded(secret);
    await queries.invalidateQueries(webhooksQuery(waitlistId));
  });
  return <Fields act="Add the webhook" hook={hook} onCancel={onCancel} />;
}

function EditForm({ waitlistId, webhook, onDone }: { waitlistId: number; webhook: Webhook; onDone: () => void }) {
  const queries = useQueryClient();
  const hook = useWebhookForm({ url: webhook.url, events: [...webhook.events] }, async (values) => {
    const params = { path: { waitlist_id: waitlistId, webhook_id: webhook.id } };
    await bodyOf(api.PATCH('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}', { params, body: values }));
    await queries.invalidateQueries(webhooksQuery(waitlistId));
    onDone();
  });
  return <Fields act="Save" hook={hook} onCancel={onDone} />;
}
