import { Title } from '@mantine/core';

export function AccountPage() {
  return <Title order={1}>Account</Title>;
}
