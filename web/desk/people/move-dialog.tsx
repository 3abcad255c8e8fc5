import { Modal, NumberInput, Stack, Text } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { nanoid } from 'nanoid';
import { useState } from 'react';
import { count, position } from '../parts/format';
import { FormButtons } from '../parts/form-buttons';
import { ProblemAlert } from '../parts/problem-alert';
import { mayHaveArrived } from '../problem';
import { contactOf, refreshPeople, updatePerson, type WholePerson } from './people.queries';

const PLACES_MAX = 1_000_000;
const PLACES_DEFAULT = 10;

/**
 * Grants a person places, or takes granted ones back. The service adds to what was granted before, so all attempts of one
 * opening have the same idempotency key. Once an attempt may have arrived, the number cannot be changed.
 */
export function MoveDialog({ person, onClose }: { person: WholePerson; onClose: () => void }) {
  const queries = useQueryClient();
  const [key] = useState(() => nanoid());
  const [typed, setTyped] = useState<number | string>(PLACES_DEFAULT);
  const [isUncertain, setIsUncertain] = useState(false);
  const { priority, spots_advanced: granted, waitlist_id, uuid } = person;
  const places = Number(typed);
  const isValid = Number.isInteger(places) && places !== 0 && places >= -granted && places <= PLACES_MAX;
  const isForward = places > 0;
  const move = useMutation({
    mutationFn: () => updatePerson(uuid, { spots_to_advance: places }, key),
    onSuccess: async (moved) => {
      await refreshPeople(queries, waitlist_id);
      notifications.show({ message: `Moved from number ${position(priority)} to number ${position(moved.priority)}` });
      onClose();
    },
    onError: (error) => mayHaveArrived(error) && setIsUncertain(true),
  });
  const close = () => {
    if (move.isPending) return;
    if (isUncertain) void refreshPeople(queries, waitlist_id);
    onClose();
  };
  const distance = count(Math.abs(places));
  return (
    <Modal opened onClose={close} title="Move" centered closeButtonProps={{ 'aria-label': 'Close' }}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          move.mutate();
        }}
      >
        <Stack>
          <NumberInput
            label="Places forward"
            description={
              granted > 0 ? `${count(granted)} granted so far. A number below 0 takes some of them back.` : undefined
            }
            data-autofocus
            min={-granted}
            max={PLACES_MAX}
            clampBehavior="none"
            allowDecimal={false}
            thousandSeparator
            readOnly={move.isPending || isUncertain}
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
          {move.isError && <ProblemAlert error={move.error} />}
          {isUncertain && (
            <Text size="sm">The request may have arrived. It is safe to try again: nobody is moved twice.</Text>
          )}
          <FormButtons
            act={isUncertain ? 'Try again' : isForward ? `Move ${distance} forward` : `Move ${distance} back`}
            canAct={isValid}
            isSending={move.isPending}
            onCancel={close}
          />
        </Stack>
      </form>
    </Modal>
  );
}
