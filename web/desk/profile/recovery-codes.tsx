import { Button, Code, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { DownloadIcon } from '@radix-ui/react-icons';
import { CopyButton } from '../parts/copy-button';
import { saveFile } from '../parts/save-file';

/** Shows new recovery codes for the only time. */
export function RecoveryCodes({
  codes,
  email,
  onSaved,
}: {
  codes: readonly string[];
  email: string;
  onSaved: () => void;
}) {
  const text = codes.join('\n');
  const save = () =>
    saveFile(
      'recovery-codes.txt',
      new Blob([`Recovery codes of ${email} at ${location.host}. Each works once.\n\n${text}\n`], {
        type: 'text/plain;charset=utf-8',
      }),
    );
  return (
    <Stack>
      <Text size="sm">
        If you lose your phone, use one of these in place of a code. Each works once. They are shown only now: keep them
        where you keep passwords.
      </Text>
      <SimpleGrid
        component="ul"
        cols={2}
        spacing="xs"
        aria-label="Recovery codes"
        p={0}
        m={0}
        style={{ listStyle: 'none' }}
      >
        {codes.map((code) => (
          <li key={code}>
            <Code>{code}</Code>
          </li>
        ))}
      </SimpleGrid>
      <Group gap="xs">
        <CopyButton text={text}>Copy all</CopyButton>
        <Button variant="default" leftSection={<DownloadIcon aria-hidden />} onClick={save}>
          Download
        </Button>
      </Group>
      <Group justify="flex-end">
        <Button onClick={onSaved} data-autofocus>
          I have saved them
        </Button>
      </Group>
    </Stack>
  );
}
