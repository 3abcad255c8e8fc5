import { ActionBar, Button, CloseButton, Text } from '@mantine/core';
import { OFFBOARDING } from '../bounds';
import { count } from '../parts/format';
import { choicesFor } from './credit';
import type { Person } from './people.queries';
import { savePeople } from './people-csv';
import type { PersonDialog } from './person-dialogs';

const LET_IN_MAX = OFFBOARDING.waiters.maxItems;

/** What an owner can do with the selected people. */
export function SelectionBar({
  waitlistId,
  people,
  canLetIn,
  onAct,
  onClear,
}: {
  waitlistId: number;
  people: readonly Person[];
  canLetIn: boolean;
  onAct: (dialog: PersonDialog) => void;
  onClear: () => void;
}) {
  const approvable = people.filter((person) => choicesFor(person).canApprove);
  const refusable = people.filter((person) => choicesFor(person).canRefuse);
  const isTooMany = people.length > LET_IN_MAX;
  return (
    <ActionBar
      opened={people.length > 0}
      // Within the page's landmark.
      withinPortal={false}
      position={{ bottom: 'calc(var(--app-shell-footer-offset, 0rem) + 16px)', left: 0, right: 0 }}
      aria-label="Selected people"
      style={{ flexWrap: 'wrap', justifyContent: 'center' }}
    >
      <Text size="sm" fw={500} px="xs">
        {count(people.length)} selected
      </Text>
      {canLetIn && (
        <Button
          size="sm"
          disabled={isTooMany}
          title={isTooMany ? `At most ${count(LET_IN_MAX)} at once` : undefined}
          onClick={() => onAct({ kind: 'let in', people })}
        >
          Let in
        </Button>
      )}
      {approvable.length > 0 && (
        <Button
          size="sm"
          variant="default"
          onClick={() => onAct({ kind: 'decide', credit: 'credited', people: approvable })}
        >
          Approve
        </Button>
      )}
      {refusable.length > 0 && (
        <Button
          size="sm"
          variant="default"
          onClick={() => onAct({ kind: 'decide', credit: 'refused', people: refusable })}
        >
          Refuse
        </Button>
      )}
      <Button size="sm" variant="default" onClick={() => void savePeople(`people-${waitlistId}`, people)}>
        Export
      </Button>
      <CloseButton aria-label="Clear selection" onClick={onClear} />
    </ActionBar>
  );
}
