import { NumberInput } from '@mantine/core';
import type { KeyboardEvent } from 'react';
import { count } from '../parts/format';

/** How many people from the front of the line. The number is typed, so that no stray Enter acts on anybody. */
export function HowMany({
  max,
  isLocked,
  typed,
  isValid,
  onType,
}: {
  max: number;
  isLocked: boolean;
  typed: number | string;
  isValid: boolean;
  onType: (typed: number | string) => void;
}) {
  return (
    <NumberInput
      label="How many"
      description={`From the front of the line; at most ${count(max)}.`}
      min={1}
      max={max}
      clampBehavior="none"
      allowDecimal={false}
      allowNegative={false}
      thousandSeparator
      data-autofocus
      readOnly={isLocked}
      error={typed !== '' && !isValid && !isLocked && `Enter a number from 1 to ${count(max)}.`}
      value={typed}
      onChange={onType}
      onKeyDown={goToButton}
    />
  );
}

/** Enter in the field moves the focus to the button, which shows the number. A second Enter presses it. */
export function goToButton(event: KeyboardEvent<HTMLInputElement>): void {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  event.currentTarget.form?.querySelector<HTMLButtonElement>('button[type="submit"]')?.focus();
}
