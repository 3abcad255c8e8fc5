import { NumberInput, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { PERSON } from '../bounds';
import { ConfirmDialog } from '../parts/confirm-dialog';
import { count, position } from '../parts/format';
import { contactOf, refreshPeople, updatePerson, type WholePerson } from './people.queries';

const PLACES_MAX = PERSON.spots_to_advance.maximum;
const PLACES_DEFAULT = 10;

/** Grants a person places, or takes granted ones back. The service adds to what was granted before. */
export function MoveDialog({ person, onClose }: { person: WholePerson; onClose: (isUncertain: boolean) => void }) {
  const queries = useQueryClient();
  const [typed, setTyped] = useState<number | string>(PLACES_DEFAULT);
  const { priority, spots_advanced: granted, waitlist_id, uuid } = person;
  const places = Number(typed);
  const isValid = Number.isInteger(places) && places !== 0 && places >= -granted && places <= PLACES_MAX;
  const isForward = places > 0;
  const distance = count(Math.abs(places));
  return (
    <ConfirmDialog
      title="Move"
      act={isForward ? `Move ${distance} forward` : `Move ${distance} back`}
      color="indigo"
      canAct={isValid}
      retryText="nobody is moved twice."
      onConfirm={async (key) => {
        const moved = await updatePerson(uuid, { spots_to_advance: places }, key);
        await refreshPeople(queries, waitlist_id);
        notifications.show({
          message: `Moved from number ${position(priority)} to number ${position(moved.priority)}`,
        });
      }}
      onClose={onClose}
    >
      {(isLocked) => (
        <>
          <NumberInput
            label="Places forward"
            description={
              granted > 0
                ? `${count(granted)} granted so far. A number below 0 takes some of them back.`
                : 'Nobody can be moved behind the place that they earned: only granted places can be taken back.'
            }
            data-autofocus
            min={-granted}
            max={PLACES_MAX}
            clampBehavior="none"
            allowDecimal={false}
            thousandSeparator
            readOnly={isLocked}
            error={
              !isValid &&
              `Enter a whole number other than 0, from ${granted > 0 ? count(-granted) : 1} to ${count(PLACES_MAX)}.`
            }
            value={typed}
            onChange={setTyped}
          />
          {isValid && (
            <Text size="sm">
              <bdi>{contactOf(person)}</bdi>{' '}
              {isForward
                ? `goes from number ${position(priority)} to about number ${position(Math.max(0, priority - places))}, and those in between fall back by one.`
                : `gives ${distance} granted places back, and those behind move up.`}
            </Text>
          )}
        </>
      )}
    </ConfirmDialog>
  );
}
