import { Alert, Button, Group, List, Modal, ScrollArea, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useQuery } from '@tanstack/react-query';
import { CopyButton } from '../parts/copy-button';
import { countPeople, position } from '../parts/format';
import { waitlistQuery } from '../queries';
import { contactOf, type Person } from './people.queries';
import { savePeople } from './people-csv';

/** Lists the people who were let in, and how many the owner must notify. */
export function LetInResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly Person[];
  onClose: () => void;
}) {
  const { data: waitlist } = useQuery(waitlistQuery(waitlistId));
  return (
    <Modal
      opened
      onClose={onClose}
      // A click beside it must not lose the list.
      closeOnClickOutside={false}
      title={people.length === 0 ? 'Nobody was let in' : `${countPeople(people.length)} let in`}
      centered
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack>
        {people.length === 0 ? (
          <Text size="sm">None of them were still in line.</Text>
        ) : (
          <>
            {waitlist && <Alert variant="light">{noticeOf(people, waitlist.mail_on_offboarding)}</Alert>}
            <ScrollArea.Autosize
              mah={280}
              type="auto"
              viewportProps={{ tabIndex: 0, 'aria-label': 'Those let in', role: 'region' }}
            >
              <List size="sm" spacing={4} listStyleType="none">
                {people.map((person) => (
                  <List.Item key={person.uuid}>
                    <bdi>{contactOf(person)}</bdi>{' '}
                    <Text span inherit c="dimmed">
                      was number {position(person.priority)}
                    </Text>
                  </List.Item>
                ))}
              </List>
            </ScrollArea.Autosize>
            <Group>
              <CopyButton text={people.map(contactOf).join('\n')}>Copy contacts</CopyButton>
              <Button
                variant="default"
                leftSection={<DownloadIcon aria-hidden />}
                onClick={() => void savePeople(`let-in-${waitlistId}`, people)}
              >
                Download CSV
              </Button>
            </Group>
          </>
        )}
        <Group justify="flex-end">
          <Button onClick={onClose}>Done</Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Says how many the owner must notify. With `mail_on_offboarding`, the service mails everyone with an email. */
function noticeOf(people: readonly Person[], isMailed: boolean): string {
  const untold = isMailed ? people.filter(({ email }) => email === null).length : people.length;
  if (untold === people.length)
    return 'They have not been notified. Copy their contacts or download the list, and write to them.';
  if (untold === 0) return 'The service sends each of them an email that it is their turn.';
  const others = untold === 1 ? '1 person gave none and has' : `${countPeople(untold)} gave none and have`;
  return `The service sends an email to everyone who gave one. ${others} not been notified: download the list, and contact them.`;
}
