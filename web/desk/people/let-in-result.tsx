import { Alert, Anchor, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sendsMail } from '../environment';
import { ignoreHeldEnter } from '../parts/confirm-dialog';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { NamedPeople } from './named-people';
import { contactOf, type Person } from './people.queries';
import { savePeople } from './people-csv';
import { showUndo, undoLabel, useUndo } from './undo';
import { useIsMailed } from './use-is-mailed';

/** Lists the people who were let in, and says who gets no mail. Once it is closed, a notice can still undo it. */
export function LetInResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onClose: () => void;
}) {
  const isMailed = useIsMailed(waitlistId);
  const save = useMutation({ mutationFn: () => savePeople(`let-in-${waitlistId}`, waitlistId, people) });
  const mailed = people.filter(({ email }) => email !== null);
  const phones = people.flatMap(({ email, phone }) => (email === null && phone !== null ? [phone] : []));
  const undo = useUndo(waitlistId, people, onClose);
  const text = people.length === 0 ? 'Nobody was let in' : `${countPeople(people.length)} let in`;
  const close = () => {
    onClose();
    if (people.length > 0) showUndo(waitlistId, people, text);
  };
  return (
    <Modal
      opened
      onClose={close}
      // A click beside it must not lose the list.
      closeOnClickOutside={false}
      onKeyDown={ignoreHeldEnter}
      title={text}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {people.length === 0 ? (
          <Text size="sm">None of them were still in line.</Text>
        ) : (
          <>
            {isMailed !== undefined && (
              <Alert variant="light">
                {isMailed ? (
                  mailNotice(mailed.length, phones.length)
                ) : (
                  <>
                    No mail went out. Copy their contacts or download the list, and write to them.{' '}
                    <Anchor
                      inherit
                      // The accent is too pale on the notice.
                      c="inherit"
                      underline="always"
                      renderRoot={(props) => (
                        <Link {...props} to="/$waitlistId/settings/$tab" params={{ waitlistId, tab: 'mails' }} />
                      )}
                    >
                      {sendsMail ? 'Turn the mail on for the next ones' : 'How this service can send mail'}
                    </Anchor>
                  </>
                )}
              </Alert>
            )}
            <NamedPeople
              people={people}
              label="Those let in"
              rest=", all in the CSV"
              noteOf={({ priority }) => `was number ${position(priority)}`}
            />
            <Group>
              <CopyButton text={people.map(contactOf).join('\n')}>Copy contacts</CopyButton>
              {isMailed && phones.length > 0 && (
                <CopyButton text={phones.join('\n')}>
                  {phones.length === 1 ? 'Copy the phone' : 'Copy phones'}
                </CopyButton>
              )}
              <Button
                variant="default"
                leftSection={<DownloadIcon aria-hidden />}
                loading={save.isPending}
                onClick={() => save.mutate()}
              >
                Download CSV
              </Button>
            </Group>
            {save.isError && <ProblemAlert error={save.error} onRetry={() => save.mutate()} />}
            {undo.isError && <ProblemAlert error={undo.error} />}
          </>
        )}
        <Group justify="flex-end">
          {people.length > 0 && (
            <Button variant="default" loading={undo.isPending} onClick={() => undo.mutate()}>
              {undoLabel(people)}
            </Button>
          )}
          <Button onClick={close} disabled={undo.isPending}>
            Done
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** With `mail_on_offboarding`, the service mails everyone who has an email. */
function mailNotice(mailed: number, unmailed: number): string {
  const sent = mailed === 0 ? null : mailed === 1 ? '1 mail is on its way' : `${count(mailed)} mails are on their way`;
  const untold =
    unmailed === 0
      ? null
      : unmailed === 1
        ? '1 person has no email: copy their phone'
        : `${countPeople(unmailed)} have no email: copy their phones`;
  return `${[sent, untold].filter(Boolean).join('; ')}.`;
}
