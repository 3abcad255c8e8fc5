import { Alert, Badge, Button, Checkbox, Code, Group, Modal, Skeleton, Stack, Switch, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { api, bodyOf } from '../api';
import type { components } from '../generated/openapi';
import { AddressInput } from '../parts/address-input';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { Delayed } from '../parts/delayed';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';
import { Section } from '../parts/section';
import { type Waitlist, type Webhook, webhooksQuery } from '../queries';
import { useMay } from '../roles';
import { Deliveries } from './deliveries';

type EventName = components['schemas']['WebhookEvent'];

const EVENTS: Readonly<Record<EventName, string>> = {
  new_signup: 'Somebody joined the queue',
  verified_signup: 'Somebody confirmed their address',
  referral_credited: 'A referral counts',
  offered_signup: 'Somebody was offered a seat',
  declined_offer: 'Somebody declined an offer',
  expired_offer: 'An offer expired',
  offboarded_signup: 'Somebody was let in, or accepted an offer',
  returned_signup: 'Somebody was put back in line',
  erased_signup: 'Somebody was erased',
};

/** The dialog that adds a webhook (no secret yet) or shows a new secret. The secret stays while the dialog closes. */
interface SecretDialogState {
  readonly isOpen: boolean;
  readonly secret: string | null;
}

type Action = 'edit' | 'secret' | 'delete';

interface WebhookProps {
  readonly waitlistId: number;
  readonly webhook: Webhook;
}

/** The webhooks of a waitlist. */
export function WebhooksTab({ waitlist }: { waitlist: Waitlist }) {
  const webhooks = useQuery(webhooksQuery(waitlist.id));
  const [dialog, setDialog] = useState<SecretDialogState>({ isOpen: false, secret: null });
  const mayChange = useMay('editor');
  const showSecret = (secret: string) => setDialog({ isOpen: true, secret });
  const close = () => setDialog((shown) => ({ ...shown, isOpen: false }));
  return (
    <Stack gap="xl">
      <Group justify="space-between" align="flex-start">
        <Text size="sm" c="dimmed" maw="var(--width-form)">
          Each event is posted to these addresses, signed as Standard Webhooks specifies. If a receiver does not answer,
          the service tries again for about a day.
        </Text>
        {mayChange && <Button onClick={() => setDialog({ isOpen: true, secret: null })}>Add a webhook</Button>}
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
        <WebhookSection key={webhook.id} waitlistId={waitlist.id} webhook={webhook} onSecret={showSecret} />
      ))}
      <SecretDialog
        isOpen={dialog.isOpen}
        title={dialog.secret === null ? 'Add a webhook' : 'Save the secret of the webhook'}
        label="Secret"
        secret={dialog.secret}
        form={<AddForm waitlistId={waitlist.id} onAdded={showSecret} onCancel={close} />}
        onClose={close}
      >
        Use it to verify signatures. You won’t see it again; if you lose it, replace it.
      </SecretDialog>
    </Stack>
  );
}

function WebhookSection({ waitlistId, webhook, onSecret }: WebhookProps & { onSecret: (secret: string) => void }) {
  const refresh = useRefresh(waitlistId);
  const [action, setAction] = useState<Action | null>(null);
  const [showsDeliveries, setShowsDeliveries] = useState(false);
  const mayChange = useMay('editor');
  const params = paramsOf(waitlistId, webhook);
  const turn = useMutation({
    mutationFn: (is_active: boolean) =>
      bodyOf(api.PATCH('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}', { params, body: { is_active } })),
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
          disabled={turn.isPending || !mayChange}
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
          {mayChange && (
            <>
              <Button size="compact-sm" variant="default" loading={test.isPending} onClick={() => test.mutate()}>
                Send a test
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => setAction('edit')}>
                Edit
              </Button>
              <Button size="compact-sm" variant="default" onClick={() => setAction('secret')}>
                Replace the secret
              </Button>
            </>
          )}
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={showsDeliveries}
            onClick={() => setShowsDeliveries((shown) => !shown)}
          >
            {showsDeliveries ? 'Hide deliveries' : 'Show deliveries'}
          </Button>
          {mayChange && (
            <Button size="compact-sm" variant="subtle" color="red" onClick={() => setAction('delete')}>
              Delete
            </Button>
          )}
        </Group>
        {showsDeliveries && <Deliveries waitlistId={waitlistId} webhookId={webhook.id} />}
      </Stack>
      <WebhookDialogs
        waitlistId={waitlistId}
        webhook={webhook}
        action={action}
        onSecret={onSecret}
        onClose={() => setAction(null)}
      />
    </Section>
  );
}

function WebhookDialogs({
  waitlistId,
  webhook,
  action,
  onSecret,
  onClose,
}: WebhookProps & { action: Action | null; onSecret: (secret: string) => void; onClose: () => void }) {
  const refresh = useRefresh(waitlistId);
  const params = paramsOf(waitlistId, webhook);
  return (
    <>
      <Modal
        opened={action === 'edit'}
        onClose={onClose}
        title="Edit the webhook"
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <EditForm waitlistId={waitlistId} webhook={webhook} onDone={onClose} />
      </Modal>
      <ConfirmDialog
        isOpen={action === 'secret'}
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
        onClose={onClose}
      >
        <Text size="sm">For 24 hours, events are signed with both secrets; after that, with the new one alone.</Text>
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={action === 'delete'}
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
        onClose={onClose}
      >
        <Text size="sm">
          <Code>{webhook.url}</Code> gets no more events, not even those that wait.
        </Text>
      </ConfirmDialog>
    </>
  );
}

/** Reads the webhooks of a waitlist again, and their deliveries, whose query keys begin with the same parts. */
function useRefresh(waitlistId: number): () => Promise<void> {
  const queries = useQueryClient();
  return () => queries.invalidateQueries(webhooksQuery(waitlistId));
}

function paramsOf(waitlistId: number, { id }: Webhook) {
  return { path: { waitlist_id: waitlistId, webhook_id: id } };
}

/** An alias, because an interface is not assignable to the `Record` that `showFaults` takes. */
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

function WebhookFields({
  act,
  formState: { form, refusal, save },
  onCancel,
}: {
  act: string;
  formState: WebhookForm;
  onCancel: () => void;
}) {
  return (
    <form noValidate onSubmit={form.onSubmit((values) => save.mutate(values))}>
      <Stack>
        <AddressInput
          form={form}
          path="url"
          label="Address"
          description="Events are posted to it. It begins with https://."
          required
          data-autofocus
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
  const refresh = useRefresh(waitlistId);
  const formState = useWebhookForm({ url: '', events: [] }, async (values) => {
    const { secret } = await bodyOf(
      api.POST('/api/v1/waitlist/{waitlist_id}/webhook', {
        params: { path: { waitlist_id: waitlistId }, header: { 'Idempotency-Key': nanoid() } },
        body: values,
      }),
    );
    onAdded(secret);
    await refresh();
  });
  return <WebhookFields act="Add the webhook" formState={formState} onCancel={onCancel} />;
}

function EditForm({ waitlistId, webhook, onDone }: WebhookProps & { onDone: () => void }) {
  const refresh = useRefresh(waitlistId);
  const formState = useWebhookForm({ url: webhook.url, events: [...webhook.events] }, async (values) => {
    const params = paramsOf(waitlistId, webhook);
    await bodyOf(api.PATCH('/api/v1/waitlist/{waitlist_id}/webhook/{webhook_id}', { params, body: values }));
    await refresh();
    onDone();
  });
  return <WebhookFields act="Save" formState={formState} onCancel={onDone} />;
}
