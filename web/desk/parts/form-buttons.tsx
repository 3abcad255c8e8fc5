import { Button, Group } from '@mantine/core';
import { useFocusKeeper } from './use-focus-keeper';

/** The end of a form in a dialog or a panel. `act` is the label of the button that sends it. */
export function FormButtons({
  act,
  color,
  canAct = true,
  isSending,
  onCancel,
}: {
  act: string;
  color?: string;
  canAct?: boolean;
  isSending: boolean;
  onCancel: () => void;
}) {
  // The pressed button is disabled until the answer.
  const keepFocus = useFocusKeeper(isSending);
  return (
    <Group justify="flex-end">
      <Button variant="default" onClick={onCancel} disabled={isSending}>
        Cancel
      </Button>
      <Button type="submit" color={color} disabled={!canAct} loading={isSending} onClick={() => keepFocus()}>
        {act}
      </Button>
    </Group>
  );
}
