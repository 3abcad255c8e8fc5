import { Title } from '@mantine/core';

export function TransferPage() {
  return <Title order={1}>Transfer</Title>;
}
