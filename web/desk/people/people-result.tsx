import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ignoreHeldEnter } from '../parts/confirm-dialog';
import { countPeople, position } from '../parts/format';
import { ProblemAlert } from '../parts/problem-alert';
import { NamedPeople } from './named-people';
import type { Person } from './people.queries';
import { savePeople } from './people-csv';
import { showUndo, undoLabel, useUndo } from './undo';

/** Lists the people to whom something was done. Once it is closed, a notice can still undo it. */
export function PeopleResult<P extends Person>({
  waitlistId,
  people,
  done,
  file,
  notice,
  isOnlyTime = false,
  buttons,
  onClose,
  children,
}: {
  waitlistId: number;
  people: readonly P[];
  /** What was done to them: "let in". */
  done: string;
  /** The beginning of the name of their CSV file. */
  file: string;
  /** Who gets a mail. */
  notice: ReactNode;
  /** Whether it shows what nothing shows again: then it closes by its buttons alone. */
  isOnlyTime?: boolean;
  /** They copy what the people have. */
  buttons: ReactNode;
  onClose: () => void;
  /** What stands beside each of them. */
  children?: (person: P) => ReactNode;
}) {
  const save = useMutation({ mutationFn: () => savePeople(`${file}-${waitlistId}`, waitlistId, people) });
  const undo = useUndo(waitlistId, people, onClose);
  const text = people.length === 0 ? `Nobody was ${done}` : `${countPeople(people.length)} ${done}`;
  const close = () => {
    onClose();
    if (people.length > 0) showUndo(waitlistId, people, text);
  };
  return (
    <Modal
      opened
      onClose={() => !undo.isPending && close()}
      // A click beside it must not lose the list.
      closeOnClickOutside={false}
      closeOnEscape={!isOnlyTime}
      withCloseButton={!isOnlyTime}
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
            {notice !== undefined && <Alert variant="light">{notice}</Alert>}
            <NamedPeople
              people={people}
              label={`Those ${done}`}
              rest=", all in the CSV"
              noteOf={({ priority }) => `was number ${position(priority)}`}
            >
              {children}
            </NamedPeople>
            <Group>
              {buttons}
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
