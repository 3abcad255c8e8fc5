import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import { sendsMail } from '../environment';
import { ignoreHeldEnter } from '../parts/confirm-dialog';
import { CopyButton } from '../parts/copy-button';
import { count, countPeople, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { NamedPeople } from './named-people';
import { contactOf, type OfferedPerson } from './people.queries';
import { savePeople } from './people-csv';
import { showUndo, useUndo } from './undo';

/** Of so many, each has a button of its own. */
const WITH_BUTTON_MAX = 50;

/** Lists the people who were offered a seat, with their links, which are shown only now. */
export function OfferResult({
  waitlistId,
  people,
  onClose,
}: {
  waitlistId: number;
  people: readonly OfferedPerson[];
  onClose: () => void;
}) {
  const save = useMutation({ mutationFn: () => savePeople(`offers-${waitlistId}`, waitlistId, people) });
  const undo = useUndo(waitlistId, people, onClose);
  const text = people.length === 0 ? 'Nobody was offered a seat' : `${countPeople(people.length)} offered a seat`;
  const close = () => {
    onClose();
    if (people.length > 0) showUndo(waitlistId, people, text);
  };
  return (
    <Modal
      opened
      onClose={close}
      // A click beside it must not lose the links.
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
            <Alert variant="light">{noticeOf(people)}</Alert>
            <NamedPeople
              people={people}
              label="Those offered a seat"
              rest=", all in the CSV"
              noteOf={({ priority }) => `was number ${position(priority)}`}
            >
              {({ offer_url: link }) =>
                link !== undefined &&
                people.length <= WITH_BUTTON_MAX && (
                  <CopyButton size="compact-sm" text={link}>
                    Copy link
                  </CopyButton>
                )
              }
            </NamedPeople>
            <Group>
              {people.length > 1 && (
                <CopyButton text={people.map((person) => `${contactOf(person)}\t${person.offer_url ?? ''}`).join('\n')}>
                  Copy contacts and links
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
              Undo
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

function noticeOf(people: readonly OfferedPerson[]): string {
  const unmailed = sendsMail ? people.filter(({ email }) => email === null).length : people.length;
  const mailed = people.length - unmailed;
  const sent =
    mailed === 0 ? null : mailed === 1 ? '1 mail is on its way.' : `${count(mailed)} mails are on their way.`;
  const untold = people.length === 1 ? 'Send the link yourself' : 'Send each of them the link yourself';
  const toSend =
    mailed === 0
      ? `No mail goes out. ${untold}: it is shown only now.`
      : unmailed > 0 &&
        `${countPeople(unmailed)} ${unmailed === 1 ? 'has' : 'have'} no email: send ${unmailed === 1 ? 'the link' : 'their links'} yourself, shown only now.`;
  return [sent, toSend].filter(Boolean).join(' ');
}
