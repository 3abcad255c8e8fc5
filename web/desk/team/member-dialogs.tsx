import { Button, List, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { notifications } from '@mantine/notifications';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, bodyOf } from '../api';
import { sendsMail } from '../environment';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { showFaults } from '../parts/field-faults';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { SecretDialog } from '../parts/secret-dialog';
import { accountKeysQuery, type Member, membersQuery, ownMemberQuery, signInMethodsQuery } from '../queries';
import { signOut } from '../session';
import { type MadeInvitation, SendYourself, tellMailed } from './invite-dialog';
import { nameOf } from './member-name';
import { RoleChoice } from './role-choice';

/** What an owner does with a member, besides changing the name and the role. */
type Act = 'invite' | 'reset password' | 'reset second factor' | 'disable' | 'enable' | 'remove';

export type MemberDialog =
  | { readonly kind: 'manage' | Act; readonly member: Member }
  | { readonly kind: 'invitation'; readonly member: Member; readonly link: string }
  | { readonly kind: 'reset'; readonly member: Member; readonly link: string };

const LABELS: Readonly<Record<Act, string>> = {
  invite: 'Make a new invitation',
  'reset password': 'Let them set a new password',
  'reset second factor': 'Reset the second factor',
  disable: 'Disable',
  enable: 'Enable',
  remove: 'Remove',
};

/** The dialogs about one member. `dialog` is null while none is open. */
export function MemberDialogs({
  dialog,
  onOpen,
}: {
  dialog: MemberDialog | null;
  onOpen: (dialog: MemberDialog | null) => void;
}) {
  // Stays while the dialog fades.
  const [shown, setShown] = useState(dialog);
  if (dialog !== null && dialog !== shown) setShown(dialog);
  if (shown === null) return null;
  const { member, kind } = shown;
  const isOpen = (...kinds: MemberDialog['kind'][]) => dialog !== null && kinds.includes(dialog.kind);
  const close = () => onOpen(null);
  return (
    <>
      <Modal
        opened={isOpen('manage')}
        onClose={close}
        title={<bdi>{nameOf(member)}</bdi>}
        centered
        closeButtonProps={{ 'aria-label': 'Close' }}
      >
        <Manage key={member.id} member={member} onAct={(act) => onOpen({ kind: act, member })} onClose={close} />
      </Modal>
      {kind !== 'manage' && kind !== 'invitation' && kind !== 'reset' && (
        <ActDialog key={kind} act={kind} isOpen={isOpen(kind)} member={member} onOpen={onOpen} />
      )}
      <SecretDialog
        isOpen={isOpen('invitation')}
        title="Send this invitation"
        label="Invitation link"
        secret={'link' in shown ? shown.link : ''}
        onClose={close}
      >
        <SendYourself email={member.email} />
      </SecretDialog>
      <SecretDialog
        isOpen={isOpen('reset')}
        title="Send this link"
        label="Link for a new password"
        secret={'link' in shown ? shown.link : ''}
        onClose={close}
      >
        Send it to <bdi>{member.email}</bdi> yourself: it is shown only now, and works once, for one hour. Nobody else
        should get it.
      </SecretDialog>
    </>
  );
}

function Manage({ member, onAct, onClose }: { member: Member; onAct: (act: Act) => void; onClose: () => void }) {
  const queries = useQueryClient();
  const form = useForm({ initialValues: { name: member.name ?? '', role: member.role } });
  const [unplaced, setUnplaced] = useState<unknown>(null);
  const save = useMutation({
    mutationFn: ({ name, role }: typeof form.values) =>
      bodyOf(
        api.PATCH('/api/v1/member/{id}', {
          params: { path: { id: member.id } },
          body: {
            // What another owner has changed meanwhile stays.
            ...(name !== (member.name ?? '') && { name: name.trim() || null }),
            ...(role !== member.role && { role }),
          },
        }),
      ),
    onMutate: () => setUnplaced(null),
    onError: (error) => setUnplaced(showFaults(error, form)),
    onSuccess: async () => {
      notifications.show({ message: 'Saved' });
      onClose();
      await queries.invalidateQueries({ queryKey: membersQuery().queryKey });
    },
  });
  return (
    <Stack gap="lg">
      <form onSubmit={form.onSubmit((values) => save.mutate(values))}>
        <Stack>
          <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
            <bdi>{member.email}</bdi>
          </Text>
          <TextInput label="Name" autoComplete="off" {...form.getInputProps('name')} />
          <RoleChoice {...form.getInputProps('role')} />
          {unplaced !== null && <ProblemAlert error={unplaced} />}
          <FormButtons act="Save" canAct={form.isDirty()} isSending={save.isPending} onCancel={onClose} />
        </Stack>
      </form>
      <Stack gap="xs" align="stretch">
        {useActsFor(member).map((act) => (
          <Button
            key={act}
            variant={act === 'remove' ? 'subtle' : 'default'}
            {...(act === 'remove' && { color: 'red' })}
            onClick={() => onAct(act)}
          >
            {LABELS[act]}
          </Button>
        ))}
      </Stack>
    </Stack>
  );
}

function useActsFor({ id, status, two_factor: hasSecondFactor }: Member): readonly Act[] {
  const { data: me } = useQuery(ownMemberQuery());
  const { data: methods } = useQuery(signInMethodsQuery());
  const isSelf = id === me?.id;
  const acts: readonly (Act | false | undefined)[] = [
    status === 'invited' && 'invite',
    status === 'active' && methods?.password && 'reset password',
    // One's own is turned off in the profile.
    hasSecondFactor && !isSelf && 'reset second factor',
    status === 'disabled' ? 'enable' : 'disable',
    'remove',
  ];
  return acts.filter((act) => act !== false && act !== undefined);
}

function ActDialog({
  act,
  isOpen,
  member,
  onOpen,
}: {
  act: Act;
  isOpen: boolean;
  member: Member;
  onOpen: (dialog: MemberDialog | null) => void;
}) {
  const queries = useQueryClient();
  const { data: me } = useQuery(ownMemberQuery());
  const name = <bdi>{nameOf(member)}</bdi>;
  const paramsOf = (key: string) => ({ path: { id: member.id }, header: { 'Idempotency-Key': key } });
  const endsOwnLogin = member.id === me?.id && (act === 'disable' || act === 'remove');
  /** The dialog that follows: that of a link, which is to be sent by hand. */
  const next = useRef<MemberDialog | null>(null);

  const tell = (message: string) => notifications.show({ message });
  const setActive = (is_active: boolean, key: string) =>
    bodyOf(api.PATCH('/api/v1/member/{id}', { params: paramsOf(key), body: { is_active } }));
  const run: Readonly<Record<Act, (key: string) => Promise<unknown>>> = {
    invite: async (key) => {
      const params = paramsOf(key);
      const made: MadeInvitation = await bodyOf(api.POST('/api/v1/member/{id}/invitation', { params }));
      if (made.mailed) tellMailed(made);
      else next.current = { kind: 'invitation', member, link: made.invitation_url };
    },
    'reset password': async (key) => {
      const params = paramsOf(key);
      const { mailed, reset_url: link } = await bodyOf(api.POST('/api/v1/member/{id}/password_reset', { params }));
      if (link) next.current = { kind: 'reset', member, link };
      else if (mailed) tell(`We mailed a link for a new password to ${member.email}.`);
      else notifications.show({ color: 'red', message: NO_RESET_MAIL });
    },
    'reset second factor': async (key) => {
      await bodyOf(api.DELETE('/api/v1/member/{id}/two_factor', { params: paramsOf(key) }));
      tell('The second factor is off, and all logins of the member have ended.');
    },
    disable: (key) => setActive(false, key),
    enable: (key) => setActive(true, key),
    remove: (key) => bodyOf(api.DELETE('/api/v1/member/{id}', { params: paramsOf(key) })),
  };
  const { title, text } = WORDS[act];
  return (
    <ConfirmDialog
      isOpen={isOpen}
      title={
        <>
          {title} {name}?
        </>
      }
      act={LABELS[act]}
      color={act === 'disable' || act === 'remove' || act === 'reset second factor' ? 'red' : 'indigo'}
      onConfirm={async (key) => {
        await run[act](key);
        if (endsOwnLogin) return signOut();
        await queries.invalidateQueries({ queryKey: membersQuery().queryKey });
      }}
      onClose={() => onOpen(next.current)}
    >
      <Text size="sm">{text}</Text>
      {endsOwnLogin && (
        <Text size="sm" fw={500}>
          This is you: you are signed out at once.
        </Text>
      )}
      {act === 'remove' && <KeysOf member={member} />}
      {act === 'remove' && <MayComeBack />}
    </ConfirmDialog>
  );
}

const NO_RESET_MAIL = 'No mail went out: too many were sent to this member or from your account today. Try tomorrow.';

const WORDS: Readonly<Record<Act, { readonly title: string; readonly text: string }>> = {
  invite: {
    title: 'Make a new invitation for',
    text: 'The earlier link stops working. The new one works once, for seven days.',
  },
  'reset password': {
    title: 'Start a password reset for',
    text: sendsMail
      ? 'We mail them a link that works once, for one hour. Their password stays as it is until they set a new one.'
      : 'You get a link to send to them, which works once, for one hour. Their password stays as it is until they set a new one.',
  },
  'reset second factor': {
    title: 'Reset the second factor of',
    text: 'They sign in with the password alone until they set up another one. All their logins end now. Make sure that the request really comes from them.',
  },
  disable: {
    title: 'Disable',
    text: 'Their logins end at once, and they cannot sign in until you enable them again. Account keys that they made keep working.',
  },
  enable: { title: 'Enable', text: 'They can sign in again. Earlier logins stay ended.' },
  remove: {
    title: 'Remove',
    text: 'Their logins end at once, and their email is free for another account. What they did stays in the audit log.',
  },
};

/** The account keys that a member made, and perhaps kept. */
function KeysOf({ member }: { member: Member }) {
  const keys = useQuery(accountKeysQuery());
  const theirs = keys.data?.filter(({ created_by }) => created_by === member.id) ?? [];
  if (keys.isError) return <ProblemAlert error={keys.error} onRetry={() => void keys.refetch()} />;
  if (theirs.length === 0) return keys.data ? <Text size="sm">They made no account key that still exists.</Text> : null;
  return (
    <div>
      <Text size="sm">
        {theirs.length === 1 ? 'An account key that they made keeps' : 'Account keys that they made keep'} working.
        Under Account, revoke those that nobody else needs:
      </Text>
      <List size="sm" aria-label="Account keys that they made">
        {theirs.map(({ id, name, prefix }) => (
          <List.Item key={id}>
            <bdi>{name}</bdi> ({prefix}…)
          </List.Item>
        ))}
      </List>
    </div>
  );
}

function MayComeBack() {
  const { data: methods } = useQuery(signInMethodsQuery());
  if (!methods?.sso) return null;
  return (
    <Text size="sm">
      If they can still sign in at {methods.sso.name}, they may come back as a new member. Disabling them instead keeps
      them out.
    </Text>
  );
}
