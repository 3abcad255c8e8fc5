import { Title } from '@mantine/core';

export function PeoplePage() {
  return <Title order={1}>People</Title>;
}
