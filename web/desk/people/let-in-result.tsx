import { Alert, Anchor, Button, Group, List, Modal, ScrollArea, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { sendsMail } from '../environment';
import { ignoreHeldEnter } from '../parts/confirm-dialog';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { contactOf, type Person } from './people.queries';
import { savePeople } from './people-csv';
import { useIsMailed } from './use-is-mailed';

/** More are in the file. */
const LISTED_MAX = 1_000;

/** Lists the people who were let in, and says who gets no mail. */
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
  return (
    <Modal
      opened
      onClose={onClose}
      // A click beside it must not lose the list.
      closeOnClickOutside={false}
      onKeyDown={ignoreHeldEnter}
      title={people.length === 0 ? 'Nobody was let in' : `${countPeople(people.length)} let in`}
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
            <ScrollArea.Autosize
              mah={280}
              type="auto"
              viewportProps={{ tabIndex: 0, 'aria-label': 'Those let in', role: 'region' }}
            >
              <List size="sm" spacing={4} listStyleType="none">
                {people.slice(0, LISTED_MAX).map((person) => (
                  <List.Item key={person.uuid}>
                    <bdi>{contactOf(person)}</bdi>{' '}
                    <Text span inherit c="dimmed">
                      was number {position(person.priority)}
                    </Text>
                  </List.Item>
                ))}
              </List>
              {people.length > LISTED_MAX && (
                <Text size="sm" c="dimmed" mt={4}>
                  and {countPeople(people.length - LISTED_MAX)} more, all in the CSV
                </Text>
              )}
            </ScrollArea.Autosize>
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
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
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
