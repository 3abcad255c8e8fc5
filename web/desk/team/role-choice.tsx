import { Radio, type RadioGroupProps, Stack } from '@mantine/core';
import { ROLE_DESCRIPTIONS, ROLE_LABELS, ROLES } from '../roles';

export function RoleChoice(props: Omit<RadioGroupProps, 'children'>) {
  return (
    <Radio.Group label="Role" errorProps={{ mt: 'xs' }} {...props}>
      <Stack gap="xs" mt="xs">
        {ROLES.map((role) => (
          <Radio key={role} value={role} label={ROLE_LABELS[role]} description={ROLE_DESCRIPTIONS[role]} />
        ))}
      </Stack>
    </Radio.Group>
  );
}
